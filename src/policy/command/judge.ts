import type { Edit, Finding } from '../finding.ts';
import type { JudgePath, PathSubject } from '../paths.ts';
import type { ShellRules } from '../schema.ts';
import { variableMistake } from './environment.ts';
import { disguisedAs, programFamily } from './inspect.ts';
import type { Inspection } from './inspection.ts';
import { compileToken, DEFAULT_DENY_TOKENS, HARMLESS_DEVICES, matchesStructure } from './tokens.ts';

/** A program as a name leads to it: the path that would be started and the file behind it. */
export interface Program {
  readonly path: string;
  readonly real: string;
}

/** What the disk says about a command, gathered before it is judged. */
export interface CommandFacts {
  readonly cwd: PathSubject;
  /** For each command of the inspection: its program, or null for a builtin or a name that leads nowhere. */
  readonly programs: readonly (Program | null)[];
  /** Files named by arguments and redirections. */
  readonly paths: readonly (PathSubject & { readonly write: boolean })[];
  readonly variables: readonly string[];
}

/** What else of the policy a command must keep to. */
export interface CommandGround {
  readonly base: string;
  resolve(word: string): Program | undefined;
  /** May a command be given this file? Undefined means yes. */
  readonly readable: JudgePath;
  readonly writable: JudgePath;
  /** True when the plan could have written this file itself. */
  planWrites(real: string): boolean;
}

export type JudgeCommand = (facts: CommandFacts, inspection: Inspection) => Finding | undefined;

/**
 * C1 Every program that would be started is judged, however it is wrapped.
 * C2 A program is the file its name leads to, never its basename: `/tmp/x/git` is not `git`.
 * C3 One file under many names (busybox) is allowed under the listed name only.
 * C4 A name that hides what kind of program it leads to (a link to a shell) is not looked through, so unproven.
 */
export function compileCommand(rules: ShellRules, ground: CommandGround): JudgeCommand {
  const entries = rules.allow_executables.map((text) => ({ text, program: ground.resolve(text) }));
  const trusted = new Set(rules.allow_interpreters.map(programFamily));
  const tokens = [
    ...rules.deny_tokens.map((text, i) => compileToken(text, i)),
    ...(rules.default_deny_tokens ? DEFAULT_DENY_TOKENS.map((text) => compileToken(text, undefined)) : []),
  ];

  const allowed = (word: string, program: Program | null): boolean =>
    entries.some((entry) => {
      // Neither exists: the name itself is what was listed, and running it will say that it is missing.
      if (program === null || entry.program === undefined)
        return program === null && entry.program === undefined && entry.text === word;
      if (entry.program.real !== program.real) return false;
      const called = base(program.path);
      return called === base(entry.program.path) || called === base(program.real);
    });

  const judgePrograms = (facts: CommandFacts, inspection: Inspection): Finding | undefined => {
    for (const [i, command] of inspection.commands.entries()) {
      if (command.builtin) continue;
      const word = command.argv[0] ?? '';
      const program = facts.programs[i] ?? null;
      const shown = program === null || program.real === word ? word : `${word} (${program.real})`;
      const where = command.via === '' ? '' : `, started by ${command.via},`;
      if (!allowed(word, program))
        return denied(
          'allow_executables',
          rules.allow_executables.length === 0
            ? 'allow_executables is empty, so no program is allowed'
            : `${shown}${where} is not in allow_executables`,
          { op: 'add', at: ['allow_executables'], value: word },
        );
      if (program !== null && ground.planWrites(program.real))
        return denied('allow_executables', `${shown} lies where the plan may write, so it could be anything`);
      const disguise = program === null ? undefined : disguisedAs(word, program.real);
      if (disguise !== undefined && !trusted.has(disguise))
        return denied(
          'allow_interpreters',
          `${shown} is ${disguise}, which is looked through only under its own name`,
          { op: 'add', at: ['allow_interpreters'], value: disguise },
        );
    }
    return undefined;
  };

  return (facts, inspection) => {
    const program = judgePrograms(facts, inspection);
    if (program) return program;
    const doubt = inspection.unproven.find((unproven) => !trusted.has(unproven.program));
    if (doubt)
      return denied('allow_interpreters', `${doubt.program}: ${doubt.why}`, {
        op: 'add',
        at: ['allow_interpreters'],
        value: doubt.program,
      });
    const outside = cwdFinding(facts, ground);
    if (outside) return outside;
    for (const name of [...facts.variables, ...inspection.variables]) {
      const mistake = variableMistake(name, rules.allow_env);
      if (mistake !== undefined)
        return denied('allow_env', mistake, { op: 'add', at: ['allow_env'], value: name });
    }
    for (const path of facts.paths) {
      if (HARMLESS_DEVICES.test(path.lexical)) continue;
      const finding = (path.write ? ground.writable : ground.readable)(path);
      if (finding)
        return { ...finding, reason: `the command would be given ${path.asked}: ${finding.reason}` };
    }
    const token = tokens.find((candidate) => candidate.matches(inspection));
    if (token)
      return {
        verdict: 'deny',
        rule: 'deny_tokens',
        at: token.index === undefined ? [] : ['deny_tokens', token.index],
        mend:
          token.index === undefined
            ? { op: 'set', at: ['default_deny_tokens'], value: false }
            : { op: 'remove', at: ['deny_tokens', token.index] },
        reason: `the command holds "${token.text}", which ${token.index === undefined ? 'is denied unless default_deny_tokens is false' : 'deny_tokens denies'}`,
      };
    return approval(rules, inspection);
  };
}

function cwdFinding(facts: CommandFacts, ground: CommandGround): Finding | undefined {
  const inside = (path: string) => path === ground.base || path.startsWith(`${ground.base}/`);
  if (inside(facts.cwd.lexical) && inside(facts.cwd.real)) return undefined;
  const finding = ground.readable(facts.cwd);
  if (finding === undefined) return undefined;
  const { block: _elsewhere, ...rest } = finding;
  return {
    ...rest,
    rule: 'cwd',
    reason: `the command would run in ${facts.cwd.asked}: ${finding.reason}`,
  };
}

function approval(rules: ShellRules, inspection: Inspection): Finding | undefined {
  const wanted = rules.require_approval;
  if (wanted === false) return undefined;
  if (wanted === true)
    return {
      verdict: 'require_approval',
      rule: 'require_approval',
      at: ['require_approval'],
      reason: 'every call needs a yes',
      mend: { op: 'set', at: ['require_approval'], value: false },
    };
  const i = wanted.findIndex((text) => matchesStructure(text, inspection));
  if (i === -1) return undefined;
  return {
    verdict: 'require_approval',
    rule: 'require_approval',
    at: ['require_approval', i],
    mend: { op: 'remove', at: ['require_approval', i] },
    reason: `"${wanted[i]}" needs a person's yes`,
  };
}

function base(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function denied(rule: string, reason: string, mend?: Edit): Finding {
  return { verdict: 'deny', rule, at: [rule], reason, ...(mend && { mend }) };
}
