/** How the real CLI fails: the words on stderr and the exit code. */
export class AzError extends Error {
  readonly exit: 1 | 2 | 3;

  constructor(message: string, exit: 1 | 2 | 3 = 1) {
    super(message);
    this.name = 'AzError';
    this.exit = exit;
  }
}

/** By its shape: parts of the stand-in are bundled apart and have a class of their own. */
export function isAzError(error: unknown): error is AzError {
  return error instanceof Error && error.name === 'AzError' && 'exit' in error;
}

const REFERENCE = '\n\nhttps://aka.ms/cli_ref\nRead more about the command in reference docs';

/** Wrong usage: the parser's own complaints. */
export function usage(message: string): AzError {
  return new AzError(`${message}${REFERENCE}`, 2);
}

/** An answer of the cloud with a code, as every ARM error looks. */
export function armError(code: string, message: string, exit: 1 | 3 = 1): AzError {
  return new AzError(`(${code}) ${message}\nCode: ${code}\nMessage: ${message}`, exit);
}

export function resourceNotFound(type: string, name: string, group: string): AzError {
  return armError(
    'ResourceNotFound',
    `The Resource '${type}/${name}' under resource group '${group}' was not found. For more details please go to https://aka.ms/ARMResourceNotFoundFix`,
    3,
  );
}

export function groupNotFound(group: string): AzError {
  return armError('ResourceGroupNotFound', `Resource group '${group}' could not be found.`, 3);
}

/** A part of a resource (a rule, a route, a subnet) that is not there. */
export function childNotFound(id: string): AzError {
  return armError('NotFound', `Resource ${id} not found.`, 3);
}
