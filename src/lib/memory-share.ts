/** Bytes that several parts of the process share. */
export class MemoryShare {
  private used = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  get taken(): number {
    return this.used
  }

  /** False when there are not so many left. */
  take(bytes: number): boolean {
    if (this.used + bytes > this.most) return false
    this.used += bytes
    return true
  }

  give(bytes: number): void {
    this.used -= bytes
  }
}
