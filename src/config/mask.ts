const masked = "***";

/** Shows only whether there is a secret. */
export function mask(text: string): string {
  return text === "" ? "" : masked;
}

/**
 * Removes passwords from a URI: the one before the host, and those in parameters with telling
 * names.
 */
export function maskPasswords(uri: string): string {
  return uri
    .replace(/(:\/\/[^:/?#]*):.*@/s, `$1:${masked}@`)
    .replaceAll(/([?&][^=&#]*(?:pass|pwd|secret|token|key)[^=&#]*=)[^&#]*/gi, `$1${masked}`);
}
