import type { Inspector } from './inspection.ts';

/**
 * Code for interpreters other than a shell. Harmless code is recognised by a closed vocabulary: every name in
 * it must be known, and every way to reach a name by a string is missing. All else is unproven.
 */
interface Language {
  /** Options after which the next word is code. */
  readonly inline: RegExp;
  /** Options that change nothing about what is run. */
  readonly plain: RegExp;
  proven(code: string): boolean;
}

const PYTHON_NAMES = new Set(
  (
    'print range len str int float bool list tuple dict set sum min max abs sorted reversed enumerate zip round repr ' +
    'True False None for in if else elif while break continue pass and or not is lambda def return import from as try ' +
    'except finally raise assert Exception ValueError RuntimeError KeyboardInterrupt sys time math json random string ' +
    'stdout stderr write flush exit sleep dumps upper lower strip split join replace append startswith endswith ' +
    'perf_counter monotonic pi sqrt floor ceil digits ascii_letters version version_info argv end sep file'
  ).split(' '),
);
const NODE_NAMES = new Set(
  (
    'console log error process stdout stderr write exit exitCode argv version JSON stringify parse Math floor random max ' +
    'min PI Number String Boolean Array Date now repeat padStart padEnd join length slice toUpperCase toLowerCase trim ' +
    'setTimeout setInterval clearTimeout let const var for while if else of in true false null undefined new Error throw ' +
    'return break continue push map filter'
  ).split(' '),
);

const LANGUAGES: Record<string, Language> = {
  python: {
    inline: /^-c$/,
    plain: /^-[EIsSuBbOqv]+$/,
    // f-strings hold expressions, so a string may only have the prefixes of plain text and bytes.
    proven: (code) => vocabulary(code, PYTHON_NAMES, /^(?:b|r|u|br|rb)?$/i, /__|[@`]/),
  },
  node: {
    inline: /^(-e|--eval|-p|--print|-pe)$/,
    plain: /^(--no-warnings)$/,
    // A template literal holds expressions, a bracket could reach any member by a made-up name, and a slash or
    // an HTML comment could hide code from a reader of strings.

    proven: (code) => vocabulary(code, NODE_NAMES, /^$/, /[`[\]#@/]|__|\\|<!|-->/),
  },
};

function vocabulary(code: string, names: ReadonlySet<string>, prefix: RegExp, never: RegExp): boolean {
  if (code.length > 4096 || !/^[\x20-\x7e\t\n]*$/.test(code)) return false;
  const string = /([A-Za-z]*)('''|"""|'|")((?:\\.|(?!\2)[\s\S])*)\2/g;
  let plain = true;
  const bare = code.replace(string, (_all, front: string) => {
    if (!prefix.test(front) && !names.has(front)) plain = false;
    return ' "" ';
  });
  if (!plain || /['"]/.test(bare.replaceAll('""', '')) || never.test(bare)) return false;
  if (bare.includes('#')) return false;
  return (bare.match(/[A-Za-z_$][\w$]*/g) ?? []).every((name) => names.has(name) || /^[a-z]$/.test(name));
}

function inspector(language: Language): Inspector {
  return (args, found, walk) => {
    for (let i = 0; i < args.length; i++) {
      const arg = args[i] as string;
      if (/^(-V|--version|-h|--help)$/.test(arg)) return;
      if (language.plain.test(arg)) continue;
      const code = language.inline.test(arg) ? args[i + 1] : undefined;
      if (code === undefined) break;
      found.code.push(code);
      if (!language.proven(code)) found.doubt(walk.name, 'its code uses more than is known to be harmless');
      return;
    }
    found.doubt(walk.name, 'it would run code from a file, a module or its input');
  };
}

/** awk: without system(), pipes, redirections, getline and loaded files it only prints. */
const awkInspector: Inspector = (args, found, walk) => {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (/^-[Fv]$/.test(arg)) i++;
    else if (/^-[Fv]./.test(arg)) continue;
    else if (arg.startsWith('-') && arg !== '--') {
      found.doubt(walk.name, `its option ${arg} could load code`);
      return;
    } else if (arg !== '--') {
      found.code.push(arg);
      if (/system|getline|@|[|]|>(?!=)/.test(arg))
        found.doubt(walk.name, 'its program could run commands or write files');
      return;
    }
  }
};

/** sed: substitutions and printing by address; the commands e, r, w and friends are not among them. */
const SED =
  /^(\s*(\d+|\$|\/[^/\n]*\/I?)?(,(\d+|\$|\/[^/\n]*\/I?))?\s*!?\s*(s([/|#,:])(?:(?!\6)[^\\\n]|\\.)*\6(?:(?!\6)[^\\\n]|\\[^\n])*\6[gpiI0-9]*|[pdDnNgGhHxq=])\s*(;|$))+$/;
const sedInspector: Inspector = (args, found, walk) => {
  const scripts: string[] = [];
  let explicit = false;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '-e' || arg === '--expression') {
      explicit = true;
      scripts.push(args[++i] ?? '');
    } else if (/^-[nErsuz]+$/.test(arg) || arg === '--quiet' || arg === '--regexp-extended') continue;
    else if (arg.startsWith('-'))
      found.doubt(walk.name, `its option ${arg} could write files or load a script`);
    else if (!explicit && scripts.length === 0) scripts.push(arg);
  }
  for (const script of scripts) {
    found.code.push(script);
    if (script.length > 2048 || !SED.test(script))
      found.doubt(walk.name, 'its script does more than substitute and print');
  }
};

export const codeInspectors: ReadonlyMap<string, Inspector> = new Map([
  ['python', inspector(LANGUAGES.python as Language)],
  ['node', inspector(LANGUAGES.node as Language)],
  ['awk', awkInspector],
  ['sed', sedInspector],
]);
