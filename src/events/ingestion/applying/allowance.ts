/** A budget that is granted in portions, up to a limit, and spent. */
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

  /** Whether about this amount is left. */
  has(amount: number): boolean {
    return amount <= this.left
  }

  spend(amount: number): void {
    this.left -= amount
  }
}
