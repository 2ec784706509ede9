import { existsSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'

// The files dist/part-… that programs share. A server that runs loads of them what it needs when it needs it: those of the build before stay.

const isPart = (name) => /^part-.*\.js$/.test(name)
const isSame = (one, other) => one.length === other.length && one.every((name) => other.includes(name))

/**
 * Removes the parts of earlier builds from a folder, but for those of the newest complete build that was another one. `now`: the parts of the build that has just ended.
 * `isAlone`: for a package, which has the parts of this build only.
 */
export async function removeOldParts(folder, now, isAlone = false) {
  const listed = `${folder}/parts.json`
  const there = (await readdir(folder)).filter(isPart)
  const known = existsSync(listed) ? JSON.parse(await readFile(listed, 'utf8')) : { now: there.filter((name) => !now.includes(name)), before: [] }
  const before = isAlone ? [] : isSame(known.now, now) ? known.before : known.now
  for (const name of there) if (!now.includes(name) && !before.includes(name)) await rm(`${folder}/${name}`)
  await writeFile(listed, JSON.stringify({ now, before }))
}
