/** Engines that come with us. Each is a program of its own in `engines/`, launched like any other. */
export const BUILTIN_ENGINES = ['files', 'git', 'command'] as const;
export type BuiltinEngine = (typeof BUILTIN_ENGINES)[number];
