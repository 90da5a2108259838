/**
 * Where a model is reached: a loopback address of the gateway and a token for one caller.
 *
 * E1 Only this room makes one: the constructor wants a key that never leaves it.
 * E2 It cannot be imitated: the private field makes a plain object a different type.
 */
export class LlmEndpoint {
  readonly #genuine = true;
  /** Loopback, without a trailing slash. OpenAI clients add `/v1`; Gemini clients use it as it is. */
  readonly baseUrl: string;
  readonly token: string;

  constructor(key: symbol, baseUrl: string, token: string) {
    if (key !== endpointKey) throw new TypeError('endpoints are handed out by the LLM gateway alone');
    this.baseUrl = baseUrl;
    this.token = token;
    Object.freeze(this);
  }

  static is(value: unknown): value is LlmEndpoint {
    return typeof value === 'object' && value !== null && #genuine in value && value.#genuine;
  }
}

const endpointKey = Symbol('endpoint');

/** For the gateway; the door of the room does not pass it on. */
export function makeEndpoint(baseUrl: string, token: string): LlmEndpoint {
  return new LlmEndpoint(endpointKey, baseUrl, token);
}
