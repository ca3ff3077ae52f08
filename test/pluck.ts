import assert from 'node:assert/strict';

/** One member of each element. */
export function pluck<Element, Member extends keyof Element>(
  list: readonly Element[] | undefined,
  member: Member,
): readonly Element[Member][] {
  return (list ?? []).map((element) => element[member]);
}

/** These members of each element, in this order. */
export function rowsOf<Element>(
  list: readonly Element[] | undefined,
  ...members: readonly (keyof Element)[]
): readonly (readonly Element[keyof Element][])[] {
  return (list ?? []).map((element) => members.map((member) => element[member]));
}

/** Asserts that `holds` for no element; the error shows those for which it does. */
export function assertNone<Element>(list: readonly Element[], holds: (element: Element) => unknown): void {
  assert.deepEqual(list.filter(holds), []);
}
