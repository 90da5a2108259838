/** The answer sheet of a world. Kept apart from the world so that nothing but a scorer ever reads it. */
import { z } from 'zod';
import { readDocument } from '../../core/document.ts';
import { CODES } from '../../core/index.ts';
import { readWorldText } from './load.ts';

export const CAUSE_KINDS = [
  'nsg_deny',
  'route_blackhole',
  'route_wrong_next_hop',
  'peering_disconnected',
  'dns_record_missing',
  'dns_record_wrong',
  'dns_zone_not_linked',
  'vm_not_running',
  'service_not_listening',
  'os_firewall_drop',
  'os_firewall_reject',
  'packet_loss',
  'high_latency',
  'bandwidth_limit',
  'mtu_blackhole',
  'packet_corruption',
  'packet_reordering',
  'app_not_reading',
  'app_resets',
  'service_endpoint_missing',
  'storage_firewall',
  'nva_not_forwarding',
  'asymmetric_route',
  'overexposed_rule',
  'no_fault',
] as const;
export type CauseKind = (typeof CAUSE_KINDS)[number];

export interface TruthCause {
  readonly kind: CauseKind;
  readonly resource: string;
  readonly detail: string | null;
}

export interface Truth {
  readonly causes: readonly TruthCause[];
  readonly red_herrings: readonly string[];
}

const detail = z.union([z.string(), z.number()], 'write the detail as text').nullish();

const truthSchema = z.looseObject({
  truth: z
    .strictObject({
      causes: z.array(
        z.strictObject({
          kind: z.enum(CAUSE_KINDS, `write one of ${CAUSE_KINDS.join(', ')}`),
          resource: z.string('write the name of the resource'),
          detail,
        }),
        'write a list of causes',
      ),
      red_herrings: z.array(z.string()).nullish(),
    })
    .nullish(),
});

/** The truth of a world file, or null when it has none. */
export function loadTruth(file: string): Truth | null {
  const { value } = readDocument(readWorldText(file), truthSchema, { file, code: CODES.invalid_input });
  if (!value.truth) return null;
  return {
    causes: value.truth.causes.map((c) => ({
      kind: c.kind,
      resource: c.resource,
      detail: c.detail === undefined || c.detail === null ? null : String(c.detail),
    })),
    red_herrings: value.truth.red_herrings ?? [],
  };
}
