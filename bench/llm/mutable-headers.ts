/**
 * Loaded before the peer gateway: it appends to the headers of what `fetch` answered, which the runtime
 * does not allow, and would answer every request with an error. Answers get headers that may be changed.
 */
const { fetch: plain, Response: PlainResponse } = globalThis;
globalThis.fetch = async (input, init) => {
  const { body, status, statusText, headers } = await plain(input, init);
  return new PlainResponse(body, { status, statusText, headers: new Headers(headers) });
};
