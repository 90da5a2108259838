/**
 * Walks everything a script could run and names the first thing that is forbidden.
 *
 * 1. Every command in the tree is looked at: chains, pipes, loops, functions, substitutions, redirections.
 * 2. Wrappers and texts handed to shells are followed for at most eight layers; a ninth is forbidden itself.
 * 3. Work is bounded: a fixed number of commands, of expansions and of characters; past it nothing more is
 *    found, and the command stays RISKY for the reasons already known.
 */
import type { ParsedScript, Redirection, SyntaxNode } from 'unbash';
import { forEachChild, parse } from 'unbash';
import { readable } from '../limits.ts';
import type { Rule } from '../rule.ts';
import { findBomb } from './bombs.ts';
import { catastrophe, DESTROYERS, isKnownDestroyer } from './commands.ts';
import { type Environment, expandWord } from './expand.ts';
import { destroys, readFind } from './find.ts';
import { couldName, hasPattern, UNKNOWN } from './marks.ts';
import { knownOutput } from './output.ts';
import { components, isFatalTarget } from './paths.ts';
import { deleteRoot, MOST_LAYERS, tooDeep, writeDevice } from './rules.ts';
import { runsOthers, SHELLS, unwrap, WRAPPERS } from './wrappers.ts';

const MOST_COMMANDS = 40_000;

export interface Hit {
  readonly rule: Rule;
  readonly start: number;
  readonly end: number;
}

class Walk {
  #left = MOST_COMMANDS;
  #cwd: string | null = null;
  readonly #env: Environment = new Map();

  /** The rule that forbids a script, at this many layers of wrapping. */
  script(text: string, layer: number): Rule | null {
    if (!readable(text)) return null;
    const tree = parse(text);
    return findBomb(tree, text) ?? this.node(tree, layer)?.rule ?? null;
  }

  tree(tree: ParsedScript, text: string): Hit | null {
    const bomb = findBomb(tree, text);
    return bomb === null ? this.node(tree, 0) : { rule: bomb, start: 0, end: text.length };
  }

  node(node: SyntaxNode, layer: number): Hit | null {
    if (node.type === 'Pipeline') return this.#pipeline(node, layer);
    if (node.type === 'Command') return this.#command(node, layer, null).hit;
    if (node.type === 'Redirect' || node.type === 'HereString' || node.type === 'HereDoc') {
      const hit = this.#redirect(node);
      if (hit !== null) return hit;
    }
    if (node.type === 'For' || node.type === 'Select') {
      const values = (node.wordlist ?? []).flatMap((word) => this.#words(word));
      // The loop variable takes every value in turn; the most dangerous one counts.
      const worst = values.find((value) => value === '/' || isFatalTarget(value, null)) ?? values[0];
      if (worst !== undefined) this.#env.set(node.name.value, worst);
    }
    return this.#children(node, layer);
  }

  #children(node: SyntaxNode, layer: number): Hit | null {
    let hit: Hit | null = null;
    forEachChild(node, (child) => {
      hit ??= this.node(child, layer);
    });
    return hit;
  }

  #words(word: Parameters<typeof expandWord>[0]): string[] {
    return expandWord(word, this.#env, (script) => this.#substitution(script));
  }

  /** `$(echo rm)` and its like: one command whose output is in its text. */
  #substitution(script: ParsedScript): string | null {
    if (script.commands.length !== 1) return null;
    const only = script.commands[0]!.command;
    const commands = only.type === 'Pipeline' ? only.commands : [only];
    let output: string | null = null;
    for (const command of commands) {
      if (command.type !== 'Command' || command.name === undefined) return null;
      const argv = [
        ...this.#words(command.name),
        ...command.args.flatMap((arg) => (arg.type === 'Word' ? this.#words(arg) : [arg.text])),
      ];
      output = knownOutput(base(argv[0] ?? ''), argv.slice(1), output, this.#cwd);
      if (output === null) return null;
    }
    return output?.replace(/\n+$/, '') ?? null;
  }

  #pipeline(node: Extract<SyntaxNode, { type: 'Pipeline' }>, layer: number): Hit | null {
    let input: string | null = null;
    for (const stage of node.commands) {
      if (stage.type !== 'Command') {
        const hit = this.node(stage, layer);
        if (hit !== null) return hit;
        input = null;
        continue;
      }
      const { hit, output } = this.#command(stage, layer, input);
      if (hit !== null) return hit;
      input = output;
    }
    return null;
  }

  #command(
    node: Extract<SyntaxNode, { type: 'Command' }>,
    layer: number,
    piped: string | null,
  ): { hit: Hit | null; output: string | null } {
    let input = piped;
    for (const item of node.prefix) {
      if (item.type === 'Assignment' && item.value.type === 'Word')
        this.#env.set(item.name, this.#words(item.value).join(' '));
    }
    // Substitutions inside words and redirections run first; a word without parts holds none.
    for (const item of node.name === undefined ? node.prefix : [...node.prefix, node.name, ...node.suffix]) {
      if (item.type === 'Word' && item.parts === undefined) continue;
      const hit = this.node(item, layer);
      if (hit !== null) return { hit, output: null };
    }
    for (const redirect of node.redirects) {
      if (redirect.type === 'HereDoc') input = redirect.body.text;
      else if (redirect.type === 'HereString' && redirect.target !== undefined)
        input = this.#words(redirect.target).join(' ');
    }
    if (node.name === undefined) return { hit: null, output: null };
    const argv = [
      ...this.#words(node.name),
      ...node.args.flatMap((arg) => (arg.type === 'Word' ? this.#words(arg) : [arg.text])),
    ];
    const rule = this.argv(argv, input, layer);
    if (rule !== null) return { hit: { rule, start: node.pos, end: node.end }, output: null };
    return { hit: null, output: knownOutput(base(argv[0] ?? ''), argv.slice(1), input, this.#cwd) };
  }

  #redirect(node: Redirection): Hit | null {
    if (
      node.type !== 'Redirect' ||
      node.target === undefined ||
      node.operator === '<' ||
      node.operator === '<&'
    )
      return null;
    const fatal = this.#words(node.target).some((path) => isFatalTarget(path, this.#cwd));
    return fatal ? { rule: writeDevice, start: node.pos, end: node.end } : null;
  }

  /** Judges one command as it would be executed, and everything it would execute in turn. */
  argv(argv: readonly string[], input: string | null, layer: number): Rule | null {
    this.#left -= 1;
    if (this.#left < 0 || argv.length === 0) return null;
    const name = base(argv[0]!);
    if (hasPattern(name)) return this.#pattern(name, argv, input, layer);
    const args = argv.slice(1);
    if ((name === 'cd' || name === 'pushd') && args.length > 0) this.#changeTo(args.at(-1)!);
    if (name === 'export' || name === 'declare' || name === 'readonly' || name === 'local') {
      for (const arg of args) {
        const equals = arg.indexOf('=');
        if (equals > 0) this.#env.set(arg.slice(0, equals), arg.slice(equals + 1));
      }
    }
    if (name === 'find') return this.#find(args, layer);
    const inside = unwrap(name, argv);
    if (inside === null) return catastrophe(name, args, this.#cwd);
    if (layer >= MOST_LAYERS) return tooDeep;
    switch (inside.kind) {
      case 'script':
        return this.script(inside.text, layer + 1);
      case 'input':
        return input === null ? null : this.script(input, layer + 1);
      case 'argv': {
        if (inside.argv.length === 0) return null;
        const fed =
          name === 'xargs' || name === 'parallel'
            ? (input ?? '').split(/\s+/).filter((word) => word !== '')
            : [];
        return this.argv([...inside.argv, ...fed], input, layer + 1);
      }
    }
  }

  /** A program named by a pattern (`/bin/r?`) could be any that fits. */
  #pattern(pattern: string, argv: readonly string[], input: string | null, layer: number): Rule | null {
    for (const name of dangerousNames()) {
      if (!couldName(pattern, name)) continue;
      const rule = this.argv([name, ...argv.slice(1)], input, layer);
      if (rule !== null) return rule;
    }
    return null;
  }

  #find(args: readonly string[], layer: number): Rule | null {
    const found = readFind(args, this.#cwd);
    if (found.everything && found.deletes) return deleteRoot;
    for (const command of found.commands) {
      if (found.everything && destroys(base(command[0]!))) return deleteRoot;
      if (layer >= MOST_LAYERS) return tooDeep;
      const rule = this.argv(command, null, layer + 1);
      if (rule !== null) return rule;
    }
    return null;
  }

  #changeTo(path: string): void {
    const parts = components(path, this.#cwd);
    this.#cwd = parts === null || path.includes(UNKNOWN) ? null : `/${parts.join('/')}`;
  }
}

/** Name of the program, whatever folder it is in. */
export function base(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1);
}

function dangerousNames(): string[] {
  return [...DESTROYERS, 'mkfs', 'mkfs.ext4', 'find', ...SHELLS, ...WRAPPERS.keys()];
}

/** Whether a program could be forbidden at all, by its name. */
export function couldBeForbidden(program: string): boolean {
  const name = base(program);
  return name === 'find' || isKnownDestroyer(name) || runsOthers(name);
}

export function findForbidden(tree: ParsedScript, text: string): Hit | null {
  return new Walk().tree(tree, text);
}

/** The same for commands already read: stages of a plain pipeline. */
export function forbiddenStage(stages: readonly (readonly string[])[]): { rule: Rule; stage: number } | null {
  const walk = new Walk();
  let input: string | null = null;
  for (const [stage, argv] of stages.entries()) {
    const rule = walk.argv(argv, input, 0);
    if (rule !== null) return { rule, stage };
    input = stages.length === 1 ? null : knownOutput(base(argv[0] ?? ''), argv.slice(1), input, null);
  }
  return null;
}
