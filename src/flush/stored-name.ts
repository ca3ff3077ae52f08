const KEY_CHARACTERS = 22;

/** `sc1:<domain>:{<key>}` → the key. */
export function keyIn(storeName: string): string {
  return storeName.slice(-KEY_CHARACTERS - 1, -1);
}
