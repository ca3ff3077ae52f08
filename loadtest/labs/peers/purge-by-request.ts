/** The servers in `servers/` forget their pages at `POST /purge`. @throws when one does not. */
export async function purgeByRequest({ url }: { readonly url: string }): Promise<void> {
  const { status } = await fetch(`${url}/purge`, { method: 'POST' });
  if (status !== 204) throw new Error(`POST ${url}/purge: ${status}`);
}
