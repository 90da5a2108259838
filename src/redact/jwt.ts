import { flagsAt, is, skip, TOKEN } from './chars.ts';
import type { Detector } from './scan.ts';
import { opens } from './tokens.ts';

/** `eyJ` is base64 for `{"`: a token when more parts follow or when it says which algorithm signed it. */
export const detectJwt: Detector = (scan, start) => {
  const { text } = scan;
  if (!text.startsWith('eyJ', start) || start < (scan.done.get('jwt') ?? 0)) return false;
  if (!opens(text, start) && text[start - 1] !== '.') return false;
  const header = skip(text, start, TOKEN);
  let end = header;
  let parts = 1;
  while (text[end] === '.' && parts < 5 && (is(text, end + 1, TOKEN) || text[end + 1] === '.')) {
    end = skip(text, end + 1, TOKEN);
    parts++;
  }
  // A signature that was cut off leaves its dot behind.
  if (text[end] === '.' && parts === 2 && !is(text, end + 1, TOKEN)) end++;
  while (text[end] === '=' && end < header + 65536) end++;
  scan.done.set('jwt', end);
  if (header - start < 12) return false;
  const decoded = Buffer.from(text.slice(start, start + 400), 'base64url').toString('latin1');
  const says = /"(?:alg|typ|kid|enc|x5t|jku)"\s*:/.test(decoded);
  if (parts === 1) {
    // A grafana key is bare base64 JSON with `"k"` first; a token cut short still names its algorithm.
    if (/^\{"k":"/.test(decoded)) return scan.take(start, end, 'api_key');
    return says && header - start >= 24 ? scan.take(start, wrapped(text, end), 'jwt') : false;
  }
  const second = header + 1;
  const payload = text.startsWith('eyJ', second) || says;
  return payload && end - second >= 8 ? scan.take(start, wrapped(text, end), 'jwt') : false;
};

/** A terminal breaks long tokens: whole lines of the same alphabet, with at least one dot or 40 characters, go on. */
function wrapped(text: string, end: number): number {
  for (let lines = 0; lines < 64; lines++) {
    let i = end;
    if (text[i] === '\r') i++;
    if (text[i] !== '\n') return end;
    i++;
    let stop = i;
    while (is(text, stop, TOKEN) || (text[stop] === '.' && is(text, stop + 1, TOKEN))) stop++;
    const atEol = stop >= text.length || (flagsAt(text, stop) & 16) !== 0;
    if (
      !atEol ||
      stop - i < 20 ||
      !/\d/.test(text.slice(i, i + 120)) ||
      !/[A-Z]/.test(text.slice(i, i + 120))
    )
      return end;
    end = stop;
  }
  return end;
}
