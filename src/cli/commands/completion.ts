import { EXIT, WritError } from '../../core/index.ts';
import type { DefineCommand } from '../cli.ts';
import { COMMANDS } from '../table.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export const define: DefineCommand = (command, cli) => {
  command
    .argument('<shell>', SHELLS.join(', '))
    .addHelpText(
      'after',
      '\nExamples:\n  writ completion bash > ~/.local/share/bash-completion/completions/writ\n  writ completion fish > ~/.config/fish/completions/writ.fish',
    )
    .action(async (shell: string) => {
      const words = await commandWords();
      switch (shell) {
        case 'bash':
          return cli.print(bash(words));
        case 'zsh':
          return cli.print(`#compdef writ\nautoload -U +X bashcompinit && bashcompinit\n${bash(words)}`);
        case 'fish':
          return cli.print(fish(words));
        default:
          throw new WritError(3004, `no completions for ${shell}`, {
            suggestion: `writ completion ${SHELLS.join(' | ')}`,
            exit: EXIT.usage,
          });
      }
    });
};

/** Each command with its subcommands, read from the commands themselves so that they cannot drift apart. */
async function commandWords(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { Command } = await import('commander');
  const quiet = { print: () => undefined } as unknown as Parameters<DefineCommand>[1];
  const words = new Map<string, readonly string[]>();
  for (const entry of COMMANDS) {
    if (entry.name === 'completion') {
      words.set(entry.name, SHELLS);
      continue;
    }
    const described = new Command(entry.name);
    (await entry.load()).define(described, quiet);
    words.set(
      entry.name,
      described.commands.map((sub) => sub.name()),
    );
  }
  return words;
}

function bash(words: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...words]
    .filter(([, subs]) => subs.length > 0)
    .map(([name, subs]) => `    ${name}) words="${subs.join(' ')}" ;;`);
  return `_writ() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words="${[...words.keys()].join(' ')} --help --version"; else
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  words="$words --json --help"; fi
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=( $(compgen -f -- "$current") )
}
complete -F _writ writ`;
}

function fish(words: ReadonlyMap<string, readonly string[]>): string {
  const lines = [`complete -c writ -n __fish_use_subcommand -a "${[...words.keys()].join(' ')}"`];
  for (const [name, subs] of words)
    if (subs.length > 0)
      lines.push(`complete -c writ -n "__fish_seen_subcommand_from ${name}" -a "${subs.join(' ')}"`);
  return lines.join('\n');
}
