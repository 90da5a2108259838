import { openSync, readdirSync, readFileSync } from 'node:fs';

/**
 * Descriptors that whoever started us left open. Node closes its own in children but not these, and an open
 * folder or socket is a way round every mask, so children get /dev/null in their place.
 */
let leaked: readonly number[] | undefined;
let devNull: number | undefined;

const O_CLOEXEC = 0o2000000;

/** Standard streams, then the null device wherever a descriptor would leak. */
export function withoutLeaks<T>(stdio: readonly T[]): readonly (T | 'ignore' | number)[] {
  leaked ??= inheritable();
  if (leaked.length === 0) return stdio;
  devNull ??= openSync('/dev/null', 'r');
  const all: (T | 'ignore' | number)[] = [...stdio];
  for (const fd of leaked) {
    if (fd < stdio.length) continue;
    while (all.length < fd) all.push('ignore');
    all[fd] = devNull;
  }
  return all;
}

function inheritable(): readonly number[] {
  try {
    return readdirSync('/proc/self/fdinfo')
      .map(Number)
      .filter((fd) => fd > 2 && survivesExec(fd))
      .sort((a, b) => a - b);
  } catch {
    return [];
  }
}

function survivesExec(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false;
  }
}
