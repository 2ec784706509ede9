/** Bytes that several parts of the process share. */
export class MemoryShare {
  private taken = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /** False when there are not so many left. */
  take(bytes: number): boolean {
    if (this.taken + bytes > this.most) return false
    this.taken += bytes
    return true
  }

  give(bytes: number): void {
    this.taken -= bytes
  }
}
