/** The value as JSON has it, where an undefined member and an absent one are equal. */
export function plain<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value));
}
