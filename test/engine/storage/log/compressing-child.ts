import { createBlockLimit } from '../../../../src/engine/storage/log/compressing.ts'
import { type Disk, disk } from '../../../../src/engine/storage/log/disk.ts'
import { FileLog } from '../../../../src/engine/storage/log/file-log.ts'

// Compresses the closed segments of a log, and kills itself before (or after) a call of the disk:   compressing-child.ts DIRECTORY LAST STEP before|after

const [directory, last, step, when] = process.argv.slice(2)
let calls = 0
const kill = () => process.kill(process.pid, 'SIGKILL')
const counted =
  <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
  async (...args: A): Promise<R> => {
    const isLast = ++calls === Number(step)
    if (isLast && when === 'before') kill()
    const result = await work(...args)
    if (isLast) kill()
    return result
  }
const counting: Disk = {
  open: counted(disk.open),
  write: counted(disk.write),
  sync: counted(disk.sync),
  rename: counted(disk.rename),
  syncDirectory: counted(disk.syncDirectory),
  freeBytes: counted(disk.freeBytes),
}
const alive = setInterval(() => undefined, 1000)
const log = await FileLog.open(
  directory!,
  { minFreeBytes: 0, segmentBytes: 1, disk: counting, compression: createBlockLimit() },
  Number(last),
)
await log.compressed()
await log.close()
clearInterval(alive)
