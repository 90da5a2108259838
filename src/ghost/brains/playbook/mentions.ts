import { type Inventory, type Vm, vmAt } from './inventory.ts';
import type { Symptom } from './symptom.ts';

/** A place in a sentence where a machine, a host name or a storage account is spoken of. */
export interface Mention {
  readonly kind: 'vm' | 'host' | 'account';
  readonly vm?: Vm;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** A port written right at it, as in `db-01 (10.0.0.4:5432)`. */
  readonly port: number | null;
}

/** Names, names with their address in brackets, bare addresses, host names and accounts, in order. */
export function mentionsIn(
  text: string,
  inventory: Inventory,
  symptom: Symptom,
  accounts: readonly string[],
): readonly Mention[] {
  const found: Mention[] = [];
  const take = (mention: Mention) => {
    if (!found.some((m) => m.start < mention.end && mention.start < m.end)) found.push(mention);
  };
  const bracket = (from: number) => /^\s*\([^)]{0,120}\)/.exec(text.slice(from))?.[0] ?? '';
  for (const vm of inventory.vms) {
    for (const match of text.matchAll(new RegExp(`(?<![\\w.-])${literal(vm.name)}(?![\\w-])`, 'gi'))) {
      const after = bracket(match.index + match[0].length);
      const own = after.includes(vm.ip) || after.includes('port') || /:\d{2,5}\)/.test(after) ? after : '';
      const port =
        /:(\d{2,5})\b/.exec(own)?.[1] ??
        /\bport\s+(\d{2,5})/i.exec(own)?.[1] ??
        /^:(\d{2,5})\b/.exec(text.slice(match.index + match[0].length))?.[1];
      take({
        kind: 'vm',
        vm,
        name: vm.name,
        start: match.index,
        end: match.index + match[0].length + own.length,
        port: port === undefined ? null : Number(port),
      });
    }
  }
  for (const address of symptom.addresses) {
    const vm = vmAt(inventory, address);
    if (vm === undefined) continue;
    for (const match of text.matchAll(
      new RegExp(`(?<![\\d.])${literal(address)}(?::(\\d{2,5}))?(?![\\d.]*\\d)`, 'g'),
    )) {
      take({
        kind: 'vm',
        vm,
        name: vm.name,
        start: match.index,
        end: match.index + match[0].length,
        port: match[1] ? Number(match[1]) : null,
      });
    }
  }
  for (const account of accounts) {
    for (const match of text.matchAll(
      new RegExp(`(?<![\\w-])${literal(account)}(?:\\.\\w+\\.core\\.windows\\.net)?(?![\\w-])`, 'gi'),
    ))
      take({
        kind: 'account',
        name: account,
        start: match.index,
        end: match.index + match[0].length,
        port: null,
      });
  }
  for (const host of symptom.hostNames) {
    if (/\.core\.windows\.net$/.test(host)) continue;
    for (const match of text.matchAll(
      new RegExp(`(?<![\\w.-])${literal(host)}(?::(\\d{2,5}))?(?![\\w-])`, 'gi'),
    )) {
      const after = bracket(match.index + match[0].length);
      take({
        kind: 'host',
        name: host,
        start: match.index,
        end: match.index + match[0].length + after.length,
        port: match[1] ? Number(match[1]) : null,
      });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

export function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
