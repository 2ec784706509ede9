import type { Work } from '../work.ts'

/** What the apply stage needs: the transformations of a project, by the records of its log. */
export interface Transform {
  /** False: batches are applied as they are. */
  isOn(): boolean
  /** The batches with the results of the plugins. Asked again for records that are not in the store, the results are the same. */
  transform(works: readonly Work[]): Promise<readonly Work[]>
  /** Records up to `seq` are in the store. */
  forget(seq: number): void
}
