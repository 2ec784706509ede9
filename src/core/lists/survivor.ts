/** What joined persons are now. Those who were joined to somebody who was joined later are found through that one. */
export function survivorIn(survivorOf: ReadonlyMap<number, number>, person: number): number {
  let current = person
  for (let next = survivorOf.get(current); next !== undefined; next = survivorOf.get(current)) current = next
  return current
}
