/** Rows read, and the number of rows to read as far as it is known. */
export interface RowCount {
  readonly read: number
  readonly total: number
}

/** The progress of the statements of one query. */
export class Progress {
  private finished: RowCount = { read: 0, total: 0 }
  private readonly running = new Set<() => RowCount>()

  /** Follows one statement until the returned function is called. */
  follow(read: () => RowCount): () => void {
    let last: RowCount = { read: 0, total: 0 }
    const look = () => {
      const seen = read()
      if (seen.total > 0) last = seen // the total is 0 before the statement starts and after it ends
      return last
    }
    this.running.add(look)
    return () => {
      if (!this.running.delete(look)) return
      // A finished statement has read all of its rows.
      this.finished = { read: this.finished.read + last.total, total: this.finished.total + last.total }
    }
  }

  get rows(): RowCount {
    let { read, total } = this.finished
    for (const look of this.running) {
      const rows = look()
      read += rows.read
      total += rows.total
    }
    return { read, total }
  }
}
