/** One member of each element. */
export function pluck<Element, Member extends keyof Element>(
  list: readonly Element[] | undefined,
  member: Member,
): readonly Element[Member][] {
  return (list ?? []).map((element) => element[member]);
}
