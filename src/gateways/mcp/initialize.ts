import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';

/** Several servers as one: what any of them can do, at the oldest version any of them speaks. */
export function mergeInitialize(
  answers: readonly { readonly server: string; readonly result: JsonObject }[],
): JsonObject {
  const capabilities: Record<string, Json> = {};
  for (const { result } of answers) {
    if (!isJsonObject(result.capabilities)) continue;
    for (const [name, value] of Object.entries(result.capabilities)) {
      const before = capabilities[name];
      capabilities[name] = isJsonObject(before) && isJsonObject(value) ? { ...before, ...value } : value;
    }
  }
  // A server that comes back or comes late changes the lists, whatever it announced.
  for (const name of ['tools', 'prompts', 'resources']) {
    const value = capabilities[name];
    if (isJsonObject(value)) capabilities[name] = { ...value, listChanged: true };
  }
  const versions = answers.map(({ result }) => String(result.protocolVersion ?? '')).sort();
  const instructions = answers.flatMap(({ server, result }) =>
    typeof result.instructions === 'string' ? [`${server}: ${result.instructions}`] : [],
  );
  return {
    protocolVersion: versions[0] ?? '',
    capabilities,
    serverInfo: { name: 'writ', version: '0.1.0' },
    ...(instructions.length === 0 ? {} : { instructions: instructions.join('\n\n') }),
  };
}
