const masked = "***";

/** Nothing of a secret but whether there is one. */
export function mask(text: string): string {
  return text === "" ? "" : masked;
}

/**
 * A URI without its passwords: the one before the host, and those of parameters that are named for
 * what they are.
 */
export function maskPasswords(uri: string): string {
  return uri
    .replace(/(:\/\/[^:/?#]*):.*@/s, `$1:${masked}@`)
    .replaceAll(/([?&][^=&#]*(?:pass|pwd|secret|token|key)[^=&#]*=)[^&#]*/gi, `$1${masked}`);
}
