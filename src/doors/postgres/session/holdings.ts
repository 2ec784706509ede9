// Memory that connections hold until their clients go on: bytes of messages that are not whole yet, prepared statements, values of portals.

export interface Holder {
  /** There is no memory for it any more. */
  giveUp(): void
}

/** Of all connections together. */
const mostBytes = 256 * 1024 * 1024

/** If connections hold too much together, the one that holds most ends. */
export class Holdings {
  private readonly held = new Map<Holder, number>()
  private readonly most: number
  private total = 0

  constructor(most = mostBytes) {
    this.most = most
  }

  /** `bytes`: more than before; fewer if negative. */
  add(holder: Holder, bytes: number): void {
    this.total += bytes
    this.held.set(holder, (this.held.get(holder) ?? 0) + bytes)
    while (this.total > this.most) this.endLargest()
  }

  leave(holder: Holder): void {
    this.total -= this.held.get(holder) ?? 0
    this.held.delete(holder)
  }

  private endLargest(): void {
    const [largest] = [...this.held].reduce((most, one) => (one[1] > most[1] ? one : most))
    this.leave(largest)
    largest.giveUp()
  }
}
