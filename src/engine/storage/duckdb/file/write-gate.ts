/** A checkpoint did not start, because somebody writes to the file. */
export class FileIsBusy extends Error {
  constructor(file: string) {
    super(`${file} is being written`)
  }
}

/**
 * Keeps checkpoints of a file apart from transactions that write to it. Since DuckDB 1.5 they run beside each other, and a large insert gets blocks that the
 * checkpoint has freed before the header that does not name them any more is on the disk: a process that is killed in between leaves a file that cannot be read.
 */
export class WriteGate {
  private readonly writers = new Map<string, number>()
  private readonly checkpoints = new Map<string, Promise<void>>()

  /** Runs a transaction, beside others. It waits for a checkpoint that runs. */
  async write<T>(file: string, transaction: () => Promise<T>): Promise<T> {
    for (let running = this.checkpoints.get(file); running; running = this.checkpoints.get(file)) await running
    this.writers.set(file, (this.writers.get(file) ?? 0) + 1)
    try {
      return await transaction()
    } finally {
      const left = this.writers.get(file)! - 1
      if (left > 0) this.writers.set(file, left)
      else this.writers.delete(file)
    }
  }

  /** Throws `FileIsBusy` while there is a transaction, or another checkpoint. */
  async checkpoint(file: string, work: () => Promise<void>): Promise<void> {
    if (this.writers.has(file) || this.checkpoints.has(file)) throw new FileIsBusy(file)
    const running = work()
    this.checkpoints.set(
      file,
      running.catch(() => undefined),
    )
    try {
      await running
    } finally {
      this.checkpoints.delete(file)
    }
  }
}
