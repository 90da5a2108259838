/** Colours, and the one place that decides whether there are any (NO_COLOR, FORCE_COLOR, no terminal). */
export type Style = Record<
  'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan',
  (text: string) => string
>;

const codes: Record<keyof Style, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  cyan: [36, 39],
};

export function styleFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Style {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0';
  const on = !env.NO_COLOR && (forced || (stream.isTTY === true && env.TERM !== 'dumb'));
  const paint = ([open, close]: readonly [number, number]) =>
    on ? (text: string) => `\u001b[${open}m${text}\u001b[${close}m` : (text: string) => text;
  return Object.fromEntries(Object.entries(codes).map(([name, pair]) => [name, paint(pair)])) as Style;
}
