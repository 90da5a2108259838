import { visible } from '../core/index.ts';
import type { GhostEvent, Watch } from './events.ts';

/** The investigation on a terminal, in the shape of the specification's console design. */
export interface TerminalOptions {
  readonly write: (text: string) => void;
  readonly width: number;
  readonly paint: Record<'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan', (text: string) => string>;
}

const RULE = '═';
const MAX_WIDTH = 100;

export function terminalWatch(options: TerminalOptions): Watch {
  const { paint } = options;
  const width = Math.max(40, Math.min(options.width, MAX_WIDTH));
  const say = (line = '') => options.write(`${line}\n`);
  const rule = () => say(RULE.repeat(width));
  /** Hostile text made visible first, then wrapped, then painted: an escape of its own never gets through. */
  const wrapped = (text: string, { indent = '', label = '', colour = (t: string) => t } = {}) => {
    const lines = visible(text, 'newlines')
      .split('\n')
      .flatMap((line, i) => wrap(i === 0 && label !== '' ? `${label} ${line}` : line, width - indent.length));
    for (const [i, line] of lines.entries())
      say(indent + (i === 0 ? colour(line.slice(0, label.length)) + line.slice(label.length) : line));
  };

  return (event: GhostEvent) => {
    switch (event.type) {
      case 'started':
        rule();
        say(paint.bold(`  UNIFIED GHOST AGENT  |  Session: ${event.session_id}`));
        say(
          paint.dim(
            `  brain ${event.brain}${event.model && event.model !== event.brain ? ` (${event.model})` : ''}${event.resumed ? ', resumed: earlier findings will be validated again' : ''}`,
          ),
        );
        rule();
        say('Checking for orphaned resources from previous sessions...');
        return;
      case 'orphans':
        if (event.items.length === 0) say(`  ${paint.green('[OK]')} No orphaned resources found.`);
        for (const item of event.items) wrapped(item, { indent: '  ', label: '[!!]', colour: paint.yellow });
        for (const problem of event.problems)
          wrapped(problem, { indent: '  ', label: '[??]', colour: paint.yellow });
        say();
        return;
      case 'memory':
        for (const item of event.items) wrapped(item, { indent: '  ', label: 'Earlier:', colour: paint.dim });
        return;
      case 'symptom':
        wrapped(`> ${event.text}`);
        say();
        return;
      case 'turn':
      case 'hypotheses':
        return;
      case 'thought':
        wrapped(event.text, { label: '[Ghost Agent]', colour: paint.cyan });
        say();
        return;
      case 'command':
        commandLine(event);
        return;
      case 'task':
        wrapped(`${event.state ?? event.status}: ${event.message}`, {
          label: '[Capture]',
          colour: paint.cyan,
        });
        return;
      case 'progress':
        wrapped(event.text, { indent: '  ' });
        return;
      case 'warning':
        wrapped(event.text, { label: 'Warning:', colour: paint.yellow });
        return;
      case 'error':
        wrapped(event.text, { label: '[ERROR]', colour: paint.red });
        return;
      case 'saved':
        say(`Session saved. Resume with: ${event.how_to_resume}`);
        return;
      case 'report':
        say();
        rule();
        say(paint.bold(`  RCA REPORT WRITTEN: ${event.path ?? '(not written)'}`));
        say(
          `  Verdict: ${event.verdict}  |  Confidence: ${event.confidence}  |  Turns: ${event.turns}  |  Duration: ${duration(event.seconds)}`,
        );
        for (const cause of event.causes)
          wrapped(
            `• ${cause.kind}: ${cause.resource}${cause.detail ? ` / ${cause.detail}` : ''} (${cause.verdict})`,
            { indent: '  ' },
          );
        rule();
        return;
      case 'proposal':
        proposal(event);
        return;
    }
  };

  function proposal(event: Extract<GhostEvent, { type: 'proposal' }>): void {
    for (const { command, why } of event.refused)
      wrapped(`${command}: ${why}`, { label: 'Not proposed:', colour: paint.yellow });
    if (event.flight === null) {
      wrapped(`Nothing is proposed: ${event.nothing_because}.`);
      return;
    }
    const { flight_id, state, role, error, how_to_go_on } = event.flight;
    say(paint.bold(`PROPOSED FLIGHT ${flight_id} (${state})`));
    for (const { command, undo } of event.commands) {
      wrapped(command, { indent: '  ', label: 'do:   ', colour: paint.cyan });
      wrapped(undo, { indent: '  ', label: 'undo: ', colour: paint.dim });
    }
    for (const check of event.checks) wrapped(check, { indent: '  ', label: 'check:', colour: paint.green });
    if (error !== null) {
      wrapped(error, { label: '[ERROR]', colour: paint.red });
      return;
    }
    say(`Waits for a ${visible(role)}. Nothing has been changed. Then:`);
    for (const line of how_to_go_on) say(`  ${visible(line)}`);
  }

  function commandLine(event: Extract<GhostEvent, { type: 'command' }>): void {
    const { text, label, colour } = shellLine(event);
    wrapped(text, { label, colour: paint[colour] });
  }
}

/** How a command went, as the shell's own line. */
function shellLine(event: Extract<GhostEvent, { type: 'command' }>): {
  readonly text: string;
  readonly label: string;
  readonly colour: 'green' | 'yellow' | 'red';
} {
  const what = event.classification ?? '–';
  const exit = event.exit_code !== null && event.exit_code !== 0 ? ` (exit ${event.exit_code})` : '';
  const reason = event.denial_reason ? ` (reason: "${event.denial_reason}")` : '';
  if (event.status === 'denied')
    return { text: `${event.command}${reason}`, label: `[Shell] ${what} — denied:`, colour: 'yellow' };
  if (event.status === 'error')
    return { text: event.command, label: `[Shell] ${what} — ${event.error ?? 'error'}:`, colour: 'red' };
  if (what === 'SAFE')
    return { text: `${event.command}${exit}`, label: '[Shell] SAFE — auto-approved:', colour: 'green' };
  return { text: `${event.command}${exit}`, label: `[Shell] ${what} — approved:`, colour: 'yellow' };
}

export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m ${whole % 60}s`;
}

/** Wraps at spaces, cutting only words longer than a line. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line: string | undefined;
  for (const word of text.split(' ')) {
    if (line === undefined) line = word;
    else if (line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line += ` ${word}`;
    while (line.length > width) {
      lines.push(line.slice(0, width));
      line = line.slice(width);
    }
  }
  return [...lines, line ?? ''];
}
