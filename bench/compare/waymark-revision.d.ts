declare module 'waymark-revision' {
  export { open } from '../../src/index.ts'
}
