declare const redactedBrand: unique symbol;

/**
 * Text that has been through the redactor. Brains, logs and reports take this type, never a string.
 * The only function that makes one is `redact` in the room of that name: it claims the stamp.
 */
export type Redacted = string & { readonly [redactedBrand]: true };

let claimed = false;

export function claimRedactedStamp(): (text: string) => Redacted {
  if (claimed) throw new Error('the Redacted stamp has been claimed: text is redacted in one place only');
  claimed = true;
  return (text) => text as Redacted;
}
