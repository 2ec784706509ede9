// What the page of backups has to copy. test/web/settings/backup-commands.test.ts holds the options against those of the commands.

/** For a shell. */
const quoted = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** Where nothing is set up. */
export const setUpCommands = [
  {
    title: 'Regularly, by the server itself',
    note: 'Options of the command that starts it. A folder, on another disk, or a bucket of S3; --key-file encrypts the copies.',
    code: 'waymark serve --data ./data --backup s3://BUCKET/PREFIX --backup-every 1h --backup-keep 30d',
  },
  {
    title: 'One copy now',
    note: 'While the server runs. --verify restores the copy into a temporary folder and compares it.',
    code: 'waymark backup /mnt/backups/waymark --data ./data --verify',
  },
]

/** `at`: a moment that can be restored. */
export const restoreCommands = (place: string, at: string | null) => [
  {
    title: 'List the copies',
    note: 'Encrypted ones also need --key-file, and a bucket that is not of Amazon the ?endpoint= that --backup has.',
    code: `waymark restore ${quoted(place)} --list`,
  },
  { title: 'Bring back the newest copy', note: 'Into a new directory.', code: `waymark restore ${quoted(place)} --data ./restored` },
  ...(at === null
    ? []
    : [
        {
          title: 'Bring back a moment',
          note: 'Events and persons as they were then.',
          code: `waymark restore ${quoted(place)} --data ./restored --at ${at}`,
        },
      ]),
]
