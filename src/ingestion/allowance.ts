/** So much may be spent as was granted, which is kept up to a limit. */
export class Allowance {
  private left: number
  private readonly most: number

  constructor(atFirst: number, most: number) {
    this.left = atFirst
    this.most = most
  }

  grant(amount: number): void {
    this.left = Math.min(this.most, this.left + amount)
  }

  /** Whether about so much could be spent. */
  has(amount: number): boolean {
    return amount <= this.left
  }

  spend(amount: number): void {
    this.left -= amount
  }
}
