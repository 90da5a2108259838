/**
 * Service tags. Azure publishes the addresses behind them; the lab gives each tag and region one made-up
 * block of public addresses, always the same, so that rules, routes and packets agree with each other.
 */
import { formatIp, type Prefix, parsePrefix } from './ipv4.ts';

const REGIONAL = [
  'Storage',
  'Sql',
  'AzureCloud',
  'AzureKeyVault',
  'AzureMonitor',
  'AzureContainerRegistry',
  'AzureCosmosDB',
  'EventHub',
  'ServiceBus',
  'AppService',
] as const;
const GLOBAL = [
  'AzureActiveDirectory',
  'AzureFrontDoor.Backend',
  'AzureFrontDoor.Frontend',
  'AzureResourceManager',
  'AzureTrafficManager',
  'AzureBackup',
  'AzurePlatformDNS',
  'AzurePlatformIMDS',
  'GatewayManager',
  'ApiManagement',
] as const;

export const SERVICE_TAG = new RegExp(
  `^(?:VirtualNetwork|Internet|AzureLoadBalancer|(?:${REGIONAL.join('|')})(?:\\.[a-z0-9]+)?|${GLOBAL.join('|').replaceAll('.', '\\.')})$`,
  'i',
);

/** The address of the platform itself: load balancer probes, DNS, the VM agent's host. */
export const PLATFORM_IP = '168.63.129.16';

/** FNV-1a: a stable number from a name, for addresses and the like. Nothing secret rests on it. */
export function stableNumber(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return h;
}

/** First octet and a half of each service's addresses; the region picks the /24 inside. */
const BLOCKS: Readonly<Record<string, string>> = {
  storage: '20.150.0.0/16',
  sql: '40.79.0.0/16',
  azurekeyvault: '40.84.0.0/16',
  azuremonitor: '20.36.0.0/16',
  azurecontainerregistry: '20.45.0.0/16',
  azurecosmosdb: '20.61.0.0/16',
  eventhub: '20.66.0.0/16',
  servicebus: '20.67.0.0/16',
  appservice: '20.105.0.0/16',
  azurecloud: '20.0.0.0/8',
};

/** The addresses behind `Storage`, `Sql.westeurope` …; undefined for tags that depend on where one stands. */
export function tagPrefixes(tag: string): readonly Prefix[] | undefined {
  const lower = tag.toLowerCase();
  if (lower === 'azureloadbalancer' || lower === 'azureplatformdns') return [parsePrefix(PLATFORM_IP)!];
  if (lower === 'azureplatformimds') return [parsePrefix('169.254.169.254')!];
  const dot = lower.indexOf('.');
  const service = dot < 0 ? lower : lower.slice(0, dot);
  const block = BLOCKS[service];
  if (block === undefined) {
    if (lower === 'virtualnetwork' || lower === 'internet') return undefined;
    return [{ base: parsePrefix('13.64.0.0/16')!.base + ((stableNumber(lower) & 0xff) << 8), bits: 24 }];
  }
  const whole = parsePrefix(block)!;
  if (dot < 0) return [whole];
  return [{ base: whole.base + ((stableNumber(lower.slice(dot + 1)) & 0xff) << 8), bits: 24 }];
}

/** The public address of the nth storage account of a world: inside its region's block, one for each. */
export function storageIp(region: string, index: number): string {
  return formatIp(tagPrefixes(`Storage.${region}`)![0]!.base + 4 + (index % 250));
}
