/** `--set a.b=c` and `--remove a.b` of the update commands. */
import type { Arguments } from './call.ts';
import { AzError } from './errors.ts';

export function genericSettings(args: Arguments): ReadonlyMap<string, string> {
  const settings = new Map<string, string>();
  for (const text of args.list('--set') ?? []) {
    const equals = text.indexOf('=');
    if (equals <= 0)
      throw new AzError(
        `Usage Error: invalid --set argument: ${text}. Usage: --set property1.property2=<value>`,
        2,
      );
    settings.set(text.slice(0, equals), text.slice(equals + 1).replace(/^["'](.*)["']$/, '$1'));
  }
  for (const property of args.list('--remove') ?? []) settings.set(property, '');
  return settings;
}
