/**
 * How much of a text the full grammar is given. Its time grows with the square of nested openings, so
 * their number is bounded as well as the length; the measured worst case stays near a tenth of a second.
 */
export const MOST_TEXT = 65_536;
const MOST_OPENINGS = 200;

/** Whether the text is small and simple enough to be read by the full grammar. */
export function readable(text: string): boolean {
  if (text.length > MOST_TEXT) return false;
  let openings = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    // ( { [ ` < $
    if (code === 0x28 || code === 0x7b || code === 0x5b || code === 0x60 || code === 0x3c || code === 0x24) {
      openings += 1;
      if (openings > MOST_OPENINGS) return false;
    }
  }
  return true;
}
