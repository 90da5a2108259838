import type { IcmpKind } from '../wire/icmp.ts';
import type { Link } from './link.ts';

/** What a packet meets on its way, in order. A path that ends without `drop` or `reject` delivers. */
export type Stage =
  /** A NIC: captures there see the packet, going out or coming in. */
  | { readonly kind: 'tap'; readonly point: string; readonly way: 'out' | 'in' }
  /** The wire of a NIC, with what it does to packets. `teller` is who would send fragmentation-needed. */
  | { readonly kind: 'link'; readonly link: Link; readonly teller: number }
  /** Propagation through the fabric. */
  | { readonly kind: 'wire'; readonly delayUs: number }
  /** An appliance forwards: the time to live goes down by one. */
  | { readonly kind: 'forward'; readonly by: number; readonly delayUs: number }
  /** Addresses are translated. */
  | { readonly kind: 'translate'; readonly source: number; readonly destination: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'reject'; readonly by: number; readonly icmp: IcmpKind };

export type Path = readonly Stage[];

/** The way an ICMP error takes back from stage `index`: what was passed so far, the other way round. */
export function wayBack(path: Path, index: number): Path {
  const back: Stage[] = [];
  for (let at = index - 1; at >= 0; at -= 1) {
    const stage = path[at]!;
    if (stage.kind === 'drop' || stage.kind === 'reject' || stage.kind === 'translate') continue;
    back.push(stage.kind === 'tap' ? { ...stage, way: stage.way === 'out' ? 'in' : 'out' } : stage);
  }
  return back;
}
