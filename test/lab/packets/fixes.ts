import type { PatchOperation } from '../../../src/lab/world/types.ts';

const replace = (path: string, value: unknown): PatchOperation => ({ op: 'replace', path, value });
const remove = (path: string): PatchOperation => ({ op: 'remove', path });
const add = (path: string, value: unknown): PatchOperation => ({ op: 'add', path, value });

/** The smallest change that takes each cause of a shipped world away, in the order of its `truth`. */
export const FIXES: Readonly<Record<string, readonly (readonly PatchOperation[])[]>> = {
  'airport-baggage-split': [
    [add('/private_dns/0/records/-', { name: 'belt-a', type: 'A', value: ['10.88.41.21'], ttl: 60 })],
    [replace('/vms/2/os_firewall/2/source', '10.88.40.0/24')],
  ],
  'auction-bid-stream': [[replace('/vms/1/link/delay_ms', 0), replace('/vms/1/link/jitter_ms', 0)]],
  'bakery-order-intake': [[replace('/vms/1/app/reads_slowly', false)]],
  'brewery-tank-control': [[remove('/route_tables/1/routes/1')]],
  'casino-ledger-drain': [[remove('/route_tables/0/routes/1')]],
  'cement-plant-both-ways': [
    [replace('/vnets/1/peerings/0/state', 'Connected')],
    [add('/storage/0/subnet_rules/-', 'cement-vnet/kiln')],
  ],
  'charity-donation-exposure': [[remove('/nsgs/1/rules/1')]],
  'clinic-hl7-gateway': [[replace('/nsgs/0/rules/0/protocol', 'Udp')]],
  'court-records-tunnel': [[replace('/vms/1/link/mtu', 1500)]],
  'drone-survey-upload': [[add('/vnets/0/subnets/0/service_endpoints/-', 'Microsoft.Storage')]],
  'ferry-ticket-names': [
    [add('/private_dns/0/records/-', { name: 'pay', type: 'A', value: ['10.66.2.40'], ttl: 60 })],
  ],
  'film-render-ingest': [[replace('/vms/1/link/rate_mbit', null)]],
  'fishery-quota-twofold': [
    [remove('/route_tables/0/routes/0')],
    [add('/vms/2/listens/-', { port: 6006, protocol: 'tcp', bind: '0.0.0.0', process: 'quotad' })],
  ],
  'florist-checkout-laptop': [[]],
  'freight-booking-queue': [[remove('/nsgs/0/rules/2')]],
  'hospital-pacs-evening': [[replace('/vms/2/link/loss_pct', 0)]],
  'insurer-claims-zone': [[add('/private_dns/0/links/-', 'claims-vnet')]],
  'library-search-node': [[replace('/vms/2/app/resets_pct', 0)]],
  'lottery-draw-vpn': [[replace('/nsgs/1/rules/1/source', ['10.210.2.0/24'])]],
  'museum-archive-nva': [[replace('/route_tables/0/routes/0/next_hop_ip', '10.40.255.5')]],
  'newsroom-media-cache': [[replace('/vms/2/os_firewall/1/source', '10.83.0.0/16')]],
  'observatory-night-run': [[replace('/vms/2/power', 'running')]],
  'opera-streaming-horizon': [[replace('/private_dns/0/records/0/value', ['10.222.3.12'])]],
  'orchard-cold-store': [[replace('/private_dns/0/records/1/value', ['10.15.6.33'])]],
  'partner-sftp-landing': [[replace('/nsgs/0/rules/0/source', ['20.86.14.200'])]],
  'pension-archive-blob': [[add('/storage/0/subnet_rules/-', 'pension-vnet/scan-new')]],
  'podcast-feed-yesterday': [[]],
  'radio-stream-relay': [[replace('/vms/1/link/reorder_pct', 0)]],
  'rail-signal-replica': [[]],
  'redis-behind-dead-nva': [[remove('/route_tables/0/routes/0')]],
  'seismic-array-feed': [[replace('/vms/1/link/corrupt_pct', 0)]],
  'shipyard-cad-transit': [[replace('/vms/1/ip_forwarding', true)]],
  'ski-lift-shutdown': [[replace('/vms/1/power', 'running')]],
  'stadium-gate-drop': [[remove('/nsgs/1/rules/1')]],
  'theatre-box-office': [
    [replace('/nsgs/0/rules/0/source', ['10.162.2.0/23'])],
    [replace('/vms/2/link/loss_pct', 0)],
  ],
  'tidal-sensor-uplink': [[remove('/route_tables/0/routes/1')]],
  'tramway-timetable-api': [[replace('/vms/2/listens/1/bind', '0.0.0.0')]],
  'university-license-srv': [[replace('/vms/2/os_firewall/1/source', '10.140.33.0/24')]],
  'vineyard-erp-peering': [[replace('/vnets/0/peerings/0/state', 'Connected')]],
  'wind-park-telemetry': [[replace('/vms/0/link/loss_pct', 0)]],
};
