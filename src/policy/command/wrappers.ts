import type { Found, Inspector, Walk } from './inspection.ts';

/**
 * Programs whose arguments are another command. Each row says which options take a value; an option that is
 * not in the row leaves what follows unproven.
 */
interface Wrapper {
  /** Short options that take a value, as letters; and those that do not. */
  readonly value: string;
  readonly plain: string;
  readonly longValue?: readonly string[];
  readonly longPlain?: readonly string[];
  /** Words before the command that are the wrapper's own (a duration, a file). */
  readonly operands?: number;
  /** `NAME=value` words before the command are variables. */
  readonly assigns?: boolean;
  /** Arguments only the run will show are appended. */
  readonly open?: boolean;
}

const WRAPPERS: Record<string, Wrapper> = {
  env: {
    value: 'u',
    plain: 'i0v',
    longValue: ['unset', 'default-signal', 'ignore-signal', 'block-signal'],
    longPlain: ['ignore-environment', 'null', 'debug', 'list-signal-handling'],
    assigns: true,
  },
  nice: { value: 'n', plain: '0123456789', longValue: ['adjustment'] },
  nohup: { value: '', plain: '' },
  setsid: { value: '', plain: 'cfw', longPlain: ['ctty', 'fork', 'wait'] },
  stdbuf: { value: 'ioe', plain: '', longValue: ['input', 'output', 'error'] },
  timeout: {
    value: 'ks',
    plain: 'fpv',
    longValue: ['kill-after', 'signal'],
    longPlain: ['foreground', 'preserve-status', 'verbose'],
    operands: 1,
  },
  ionice: { value: 'cn', plain: 't', longValue: ['class', 'classdata'], longPlain: ['ignore'] },
  chrt: { value: 'TPD', plain: 'bfiorRvam' },
  taskset: { value: '', plain: 'ac', operands: 1 },
  time: { value: 'fo', plain: 'apqv', longValue: ['format', 'output'] },
  command: { value: '', plain: 'p' },
  builtin: { value: '', plain: '' },
  exec: { value: 'a', plain: 'cl' },
  xargs: {
    value: 'aEIiLlnPsd',
    plain: '0oprtx',
    longValue: ['arg-file', 'delimiter', 'max-lines', 'max-args', 'max-procs', 'max-chars', 'replace', 'eof'],
    longPlain: ['null', 'no-run-if-empty', 'verbose', 'exit', 'open-tty', 'interactive'],
    open: true,
  },
  busybox: { value: '', plain: '' },
  toybox: { value: '', plain: '' },
};

export const wrapperInspectors: ReadonlyMap<string, Inspector> = new Map(
  Object.entries(WRAPPERS).map(([name, wrapper]) => [name, inspector(wrapper)]),
);

function inspector(wrapper: Wrapper): Inspector {
  return (args, found, walk) => {
    const start = commandAt(wrapper, args, found, walk);
    if (start === undefined) return;
    const inner = args.slice(start);
    if (inner.length === 0) return;
    if (wrapper.open && !/(^|\/)(echo|printf)$/.test(inner[0] as string))
      found.doubt(walk.name, 'it adds arguments that only the run will show');
    walk.enter(inner, walk.name, { open: wrapper.open === true, stdin: walk.stdin && wrapper.open !== true });
  };
}

/** Index of the first word of the inner command; undefined (with a doubt) when that cannot be told. */
function commandAt(wrapper: Wrapper, args: readonly string[], found: Found, walk: Walk): number | undefined {
  let operands = wrapper.operands ?? 0;
  let options = true;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (options && arg === '--') options = false;
    else if (options && arg.startsWith('-') && arg !== '-') {
      const skip = optionWords(wrapper, arg);
      if (skip === undefined) {
        found.doubt(walk.name, `its option ${arg} is not one that is known to be harmless`);
        return undefined;
      }
      i += skip;
    } else if (wrapper.assigns && /^[^=]+=/.test(arg)) {
      found.variables.push(arg.slice(0, arg.indexOf('=')));
      options = false;
    } else if (wrapper.assigns && arg === '-') options = true;
    else if (operands > 0) operands--;
    else return i;
  }
  return args.length;
}

/** How many further words an option takes; undefined when the option is not known. */
function optionWords(wrapper: Wrapper, arg: string): number | undefined {
  if (arg.startsWith('--')) {
    const [name, value] = arg.slice(2).split('=', 2) as [string, string | undefined];
    if (wrapper.longPlain?.includes(name)) return 0;
    if (wrapper.longValue?.includes(name)) return value === undefined ? 1 : 0;
    return undefined;
  }
  for (let i = 1; i < arg.length; i++) {
    const letter = arg[i] as string;
    if (wrapper.value.includes(letter)) return i === arg.length - 1 ? 1 : 0;
    if (!wrapper.plain.includes(letter)) return undefined;
  }
  return 0;
}
