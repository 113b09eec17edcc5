/** What all requests for a page have in common. A number that is 0 was not given. */
export function decodePage(request: {
  readonly pageSize: number;
  readonly continuousToken: string;
}): { readonly pageSize: number | undefined; readonly continuousToken: string } {
  const { pageSize, continuousToken } = request;
  return { pageSize: pageSize === 0 ? undefined : pageSize, continuousToken };
}
