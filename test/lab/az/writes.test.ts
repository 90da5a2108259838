import { describe, expect, it } from 'vitest';
import { testLab } from '../lab-dir.ts';

const connected = async (lab: ReturnType<typeof testLab>, to: string, port: string) =>
  lab.json(
    'network',
    'watcher',
    'test-connectivity',
    '-g',
    'shop-rg',
    '--source-resource',
    'web-01',
    '--dest-address',
    to,
    '--dest-port',
    port,
    '--query',
    'connectionStatus',
  );

describe('writes change the world', () => {
  it('[LAB-18] NSG rules: create, update, delete, each seen by traffic', async () => {
    const lab = testLab();
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Reachable');
    const rule = ['--nsg-name', 'web-nsg', '-g', 'shop-rg', '-n', 'stop'];
    const made = await lab.json(
      'network',
      'nsg',
      'rule',
      'create',
      ...rule,
      '--priority',
      '110',
      '--direction',
      'Outbound',
      '--access',
      'Deny',
      '--destination-port-ranges',
      '5432',
    );
    expect(made).toMatchObject({
      name: 'stop',
      access: 'Deny',
      destinationPortRange: '5432',
      provisioningState: 'Succeeded',
    });
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Unreachable');
    await lab.json('network', 'nsg', 'rule', 'update', ...rule, '--access', 'Allow');
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Reachable');
    await lab.json('network', 'nsg', 'rule', 'update', ...rule, '--set', 'access=Deny');
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Unreachable');
    expect(await lab.az('network', 'nsg', 'rule', 'delete', ...rule)).toMatchObject({ code: 0, stdout: '' });
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Reachable');
    expect((await lab.az('network', 'nsg', 'rule', 'delete', ...rule)).code).toBe(0);
  });

  it('[LAB-18] a change that makes no sense is refused and nothing is stored', async () => {
    const lab = testLab();
    const twin = await lab.az(
      'network',
      'nsg',
      'rule',
      'create',
      '-g',
      'shop-rg',
      '--nsg-name',
      'web-nsg',
      '-n',
      'b',
      '--priority',
      '200',
      '--direction',
      'Inbound',
    );
    expect(twin.code).toBe(1);
    expect(twin.stderr).toContain('(SecurityRuleConflict)');
    expect(
      (
        await lab.az(
          'network',
          'nsg',
          'rule',
          'create',
          '-g',
          'shop-rg',
          '--nsg-name',
          'web-nsg',
          '-n',
          'b',
          '--priority',
          '99',
        )
      ).stderr,
    ).toContain('SecurityRuleInvalidPriority');
    expect(
      await lab.json(
        'network',
        'nsg',
        'rule',
        'list',
        '-g',
        'shop-rg',
        '--nsg-name',
        'web-nsg',
        '--query',
        'length(@)',
      ),
    ).toBe(2);
  });

  it('[LAB-18] routes: update, create, delete', async () => {
    const lab = testLab();
    const table = ['-g', 'shop-rg', '--route-table-name', 'shop-rt'];
    await lab.json(
      'network',
      'route-table',
      'route',
      'update',
      ...table,
      '-n',
      'to-data',
      '--next-hop-ip-address',
      '10.0.1.77',
    );
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Unreachable');
    await lab.json(
      'network',
      'route-table',
      'route',
      'update',
      ...table,
      '-n',
      'to-data',
      '--next-hop-type',
      'VnetLocal',
    );
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Reachable');
    await lab.json(
      'network',
      'route-table',
      'route',
      'create',
      ...table,
      '-n',
      'hole',
      '--address-prefix',
      '10.1.2.4/32',
      '--next-hop-type',
      'None',
    );
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Unreachable');
    await lab.az('network', 'route-table', 'route', 'delete', ...table, '-n', 'hole');
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Reachable');
    expect(
      (
        await lab.az(
          'network',
          'route-table',
          'route',
          'create',
          ...table,
          '-n',
          'x',
          '--address-prefix',
          '10.1.2.4/24',
          '--next-hop-type',
          'None',
        )
      ).code,
    ).toBe(1);
  });

  it('[LAB-18] NIC, VM and subnet', async () => {
    const lab = testLab();
    await lab.json('network', 'nic', 'update', '-g', 'hub-rg', '-n', 'fw-01-nic', '--ip-forwarding', 'false');
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Unreachable');
    expect(
      await lab.json('network', 'nic', 'update', '-g', 'hub-rg', '-n', 'fw-01-nic', '--ip-forwarding'),
    ).toMatchObject({ enableIPForwarding: true });
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Reachable');
    await lab.az('vm', 'deallocate', '-g', 'hub-rg', '-n', 'fw-01');
    expect(await connected(lab, '10.1.2.4', '5432')).toBe('Unreachable');
    await lab.az('vm', 'start', '-g', 'hub-rg', '-n', 'fw-01');
    expect(await lab.json('vm', 'show', '-d', '-g', 'hub-rg', '-n', 'fw-01', '--query', 'powerState')).toBe(
      'VM running',
    );
    const subnet = await lab.json(
      'network',
      'vnet',
      'subnet',
      'update',
      '-g',
      'shop-rg',
      '--vnet-name',
      'shop-vnet',
      '-n',
      'web',
      '--service-endpoints',
      'Microsoft.Sql',
      '--route-table',
      '',
    );
    expect(subnet).toMatchObject({ serviceEndpoints: [{ service: 'Microsoft.Sql' }] });
    expect(subnet).not.toHaveProperty('routeTable');
  });

  it('[LAB-18] peerings come up only together', async () => {
    const lab = testLab();
    const side = ['-g', 'shop-rg', '--vnet-name', 'shop-vnet', '-n', 'shop-to-hub'];
    const other = ['-g', 'hub-rg', '--vnet-name', 'hub-vnet', '-n', 'hub-to-shop', '--query', 'peeringState'];
    await lab.az('network', 'vnet', 'peering', 'delete', ...side);
    expect(await lab.json('network', 'vnet', 'peering', 'show', ...other)).toBe('Disconnected');
    expect(await connected(lab, '10.0.1.4', '22')).toBe('Unreachable');
    expect(
      await lab.json(
        'network',
        'vnet',
        'peering',
        'create',
        ...side,
        '--remote-vnet',
        'hub-vnet',
        '--allow-vnet-access',
        '--allow-forwarded-traffic',
      ),
    ).toMatchObject({ peeringState: 'Connected', allowForwardedTraffic: true });
    expect(await lab.json('network', 'vnet', 'peering', 'show', ...other)).toBe('Connected');
    expect(
      await lab.json('network', 'vnet', 'peering', 'update', ...side, '--allow-forwarded-traffic', 'false'),
    ).toMatchObject({ allowForwardedTraffic: false });
    expect(await lab.json('network', 'vnet', 'peering', 'sync', ...side)).toMatchObject({
      peeringState: 'Connected',
    });
  });

  it('[LAB-18] DNS records and links', async () => {
    const lab = testLab();
    const zone = ['-g', 'shop-rg', '-z', 'shop.internal'];
    expect(await connected(lab, 'cache.shop.internal', '5432')).toBe('Unreachable');
    expect(
      await lab.json(
        'network',
        'private-dns',
        'record-set',
        'a',
        'add-record',
        ...zone,
        '-n',
        'cache',
        '-a',
        '10.1.2.4',
      ),
    ).toMatchObject({ aRecords: [{ ipv4Address: '10.1.2.4' }] });
    expect(await connected(lab, 'cache.shop.internal', '5432')).toBe('Reachable');
    await lab.az(
      'network',
      'private-dns',
      'record-set',
      'a',
      'remove-record',
      ...zone,
      '-n',
      'cache',
      '-a',
      '10.1.2.4',
    );
    expect(await connected(lab, 'cache.shop.internal', '5432')).toBe('Unreachable');
    await lab.json(
      'network',
      'private-dns',
      'record-set',
      'cname',
      'set-record',
      ...zone,
      '-n',
      'alias',
      '-c',
      'db.shop.internal',
    );
    expect(await connected(lab, 'alias.shop.internal', '5432')).toBe('Reachable');
    await lab.json(
      'network',
      'private-dns',
      'link',
      'vnet',
      'create',
      ...zone,
      '-n',
      'hubby',
      '-v',
      'hub-vnet',
      '-e',
      'false',
    );
    expect(
      await lab.json('network', 'private-dns', 'link', 'vnet', 'list', ...zone, '--query', '[].name'),
    ).toEqual(['shop-vnet-link', 'hubby']);
    await lab.az('network', 'private-dns', 'link', 'vnet', 'delete', ...zone, '-n', 'shop-vnet-link', '-y');
    expect(await connected(lab, 'db.shop.internal', '5432')).toBe('Unreachable');
    await lab.az('network', 'private-dns', 'record-set', 'a', 'delete', ...zone, '-n', 'db', '-y');
    expect(
      (await lab.az('network', 'private-dns', 'record-set', 'a', 'show', ...zone, '-n', 'db')).code,
    ).toBe(3);
  });

  it('[LAB-18] storage rules', async () => {
    const lab = testLab();
    await lab.json(
      'storage',
      'account',
      'network-rule',
      'add',
      '-g',
      'hub-rg',
      '-n',
      'shoplocked',
      '--vnet-name',
      'shop-vnet',
      '--subnet',
      'data',
    );
    const rules = () =>
      lab.json(
        'storage',
        'account',
        'network-rule',
        'list',
        '-n',
        'shoplocked',
        '--query',
        'length(virtualNetworkRules)',
      );
    expect(await rules()).toBe(2);
    await lab.json(
      'storage',
      'account',
      'network-rule',
      'remove',
      '-g',
      'hub-rg',
      '-n',
      'shoplocked',
      '--vnet-name',
      'shop-vnet',
      '--subnet',
      'data',
    );
    expect(await rules()).toBe(1);
    await lab.json('storage', 'account', 'update', '-n', 'shoplocked', '--default-action', 'Allow');
    expect(
      (await lab.az('storage', 'container', 'list', '--account-name', 'shoplocked', '--auth-mode', 'login'))
        .code,
    ).toBe(0);
  });

  it('[LAB-18] every write is in the activity log, with who and when', async () => {
    const lab = testLab();
    lab.elapsed = 90_000;
    await lab.az('vm', 'restart', '-g', 'shop-rg', '-n', 'web-01');
    const [latest] = await lab.json<Record<string, unknown>[]>(
      'monitor',
      'activity-log',
      'list',
      '-g',
      'shop-rg',
      '--offset',
      '1h',
    );
    expect(latest).toMatchObject({
      caller: 'engineer@writ-lab.example',
      eventTimestamp: '2026-01-15T14:31:30.000Z',
      operationName: { value: 'Microsoft.Compute/virtualMachines/restart/action' },
      status: { value: 'Succeeded' },
    });
    expect(await lab.json('monitor', 'activity-log', 'list', '--offset', '1h', '--query', 'length(@)')).toBe(
      1,
    );
    expect(await lab.json('monitor', 'activity-log', 'list', '--offset', '2d', '--query', 'length(@)')).toBe(
      3,
    );
    expect(
      await lab.json(
        'monitor',
        'activity-log',
        'list',
        '--start-time',
        '2026-01-14',
        '--caller',
        'bob@shop.example',
        '--query',
        '[].resourceGroupName',
      ),
    ).toEqual(['hub-rg']);
  });

  it('[LAB-25] calls at the same time do not lose each other', async () => {
    const lab = testLab();
    const numbers = Array.from({ length: 12 }, (_, i) => i);
    await Promise.all(
      numbers.map((i) =>
        lab.az(
          'network',
          'nsg',
          'rule',
          'create',
          '-g',
          'shop-rg',
          '--nsg-name',
          'web-nsg',
          '-n',
          `r${i}`,
          '--priority',
          String(500 + i),
        ),
      ),
    );
    expect(
      await lab.json(
        'network',
        'nsg',
        'rule',
        'list',
        '-g',
        'shop-rg',
        '--nsg-name',
        'web-nsg',
        '--query',
        'length(@)',
      ),
    ).toBe(14);
  });
});
