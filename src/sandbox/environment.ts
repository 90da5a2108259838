/** The PATH of every child. Fixed: the caller's own PATH decides nothing about which program runs. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What may pass from our environment into a child's. All else (LD_*, NODE_OPTIONS, tokens …) stays here. */
const ALLOWED = [
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'LC_MESSAGES',
  'LC_NUMERIC',
  'LC_TIME',
  'TZ',
  'TERM',
] as const;

/**
 * A complete environment for a child: the fixed PATH, the few harmless variables of ours, then `extra`,
 * which our own code names one by one and which wins.
 */
export function baseEnvironment(
  extra: Readonly<Record<string, string>> = {},
  from: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const env: Record<string, string> = { PATH: SYSTEM_PATH, LANG: 'C.UTF-8' };
  for (const name of ALLOWED) {
    const value = from[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...extra };
}
