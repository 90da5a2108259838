/** Resource ids in Azure's form, both ways. */

/** The subscription and tenant of every lab: fixed, so that ids can be written into notes and tests. */
export const SUBSCRIPTION = '00000000-1ab0-4a2b-8c3d-000000000001';
export const TENANT = '00000000-1ab0-4a2b-8c3d-0000000000ff';
export const SUBSCRIPTION_NAME = 'Writ Lab';
export const USER = 'engineer@writ-lab.example';

/** `type` is `Microsoft.Network/virtualNetworks/subnets`, `names` one for each part after the provider. */
export function resourceId(group: string, type: string, ...names: readonly string[]): string {
  const [provider, ...kinds] = type.split('/');
  const path = kinds.map((kind, i) => `${kind}/${names[i]}`).join('/');
  return `${groupId(group)}/providers/${provider}/${path}`;
}

export function groupId(group: string): string {
  return `/subscriptions/${SUBSCRIPTION}/resourceGroups/${group}`;
}

export interface ResourceIdParts {
  readonly subscription: string;
  readonly group: string;
  /** `Microsoft.Network/virtualNetworks/subnets`. */
  readonly type: string;
  readonly names: readonly string[];
}

export function parseResourceId(id: string): ResourceIdParts | undefined {
  const match = /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\/providers\/([^/]+)\/(.+)$/i.exec(
    id.trim(),
  );
  if (!match) return undefined;
  const rest = match[4]!.replace(/\/$/, '').split('/');
  if (rest.length % 2 !== 0 || rest.some((part) => part === '')) return undefined;
  const kinds = rest.filter((_, i) => i % 2 === 0);
  return {
    subscription: match[1]!,
    group: match[2]!,
    type: [match[3]!, ...kinds].join('/'),
    names: rest.filter((_, i) => i % 2 === 1),
  };
}

/** A name, or the last name of an id: commands take either for NSGs, route tables, VMs and the like. */
export function nameOf(nameOrId: string): string {
  return parseResourceId(nameOrId)?.names.at(-1) ?? nameOrId;
}
