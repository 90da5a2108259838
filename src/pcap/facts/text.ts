/** Text from packets is hostile: control characters, escapes, bidi tricks and length are taken out here. */
const MAX_TEXT = 253;

export function safeText(text: string, max = MAX_TEXT): string {
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0)!;
    const plain =
      code >= 0x20 && code < 0x7f && char !== '\\' && char !== '`' && char !== '<' && char !== '>';
    out += plain ? char : escaped(code);
    if (out.length >= max) return `${out.slice(0, max)}…`;
  }
  return out;
}

function escaped(code: number): string {
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
}

/** Four 32-bit words as an address: IPv4 uses the first. */
export function addressText(words: ArrayLike<number>, family: number): string {
  if (family === 4) return ipv4Text(words[0]!);
  const groups: number[] = [];
  for (let i = 0; i < 4; i++) groups.push((words[i]! >>> 16) & 0xffff, words[i]! & 0xffff);
  return ipv6Text(groups);
}

export function ipv4Text(word: number): string {
  return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
}

/** RFC 5952: lower case, the longest run of zeros (two or more) shortened. */
function ipv6Text(groups: readonly number[]): string {
  let best = -1;
  let bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (i + length < 8 && groups[i + length] === 0) length++;
    if (length > bestLength) {
      best = i;
      bestLength = length;
    }
    if (length > 0) i += length - 1;
  }
  const hex = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((g) => g.toString(16))
      .join(':');
  if (best < 0) return hex(0, 8);
  return `${hex(0, best)}::${hex(best + bestLength, 8)}`;
}

export function macText(mac: number): string {
  return mac
    .toString(16)
    .padStart(12, '0')
    .replace(/..(?!$)/g, '$&:');
}

/** `address:port`, with brackets where the address has colons of its own. */
export function endpointText(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}
