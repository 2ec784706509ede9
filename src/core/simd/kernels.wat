;; Kernels of folds: loops over a piece of a column that lies in this memory. kernels.ts says where, and reference.ts has the same loops in JavaScript.
;; Bits are numbered from the lowest bit of the lowest byte. Columns are read in steps of 16 values: what is behind their end is not counted.

(module
  (memory (export "memory") 8)

  ;; A bit for each of `n` codes of one byte: whether it is in the set. Byte `l` of the set has the codes with the low half `l`: bit `h` of the first 16
  ;; bytes for a high half `h` below 8, of the last 16 bytes for the others.
  (func (export "names") (param $at i32) (param $n i32) (param $set i32) (param $bits i32)
    (local $low v128) (local $high v128) (local $places v128) (local $codes v128) (local $place v128) (local $i i32)
    (local.set $low (v128.load (local.get $set)))
    (local.set $high (v128.load offset=16 (local.get $set)))
    (local.set $places (v128.const i8x16 1 2 4 8 16 32 64 -128 1 2 4 8 16 32 64 -128))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $codes (v128.load (i32.add (local.get $at) (local.get $i))))
        (local.set $place (i8x16.swizzle (local.get $places) (i8x16.shr_u (local.get $codes) (i32.const 4))))
        (i32.store16
          (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3)))
          (i8x16.bitmask
            (i8x16.eq
              (local.get $place)
              (v128.and
                (local.get $place)
                (v128.bitselect
                  (i8x16.swizzle (local.get $high) (v128.and (local.get $codes) (v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15)))
                  (i8x16.swizzle (local.get $low) (v128.and (local.get $codes) (v128.const i8x16 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15 15)))
                  (i8x16.shr_s (local.get $codes) (i32.const 7)))))))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br $next)))
    (call $cut (local.get $n) (local.get $bits)))

  ;; Clears the bits behind the first `n`, up to the next multiple of 64.
  (func $cut (param $n i32) (param $bits i32)
    (local $last i32)
    (if (i32.and (local.get $n) (i32.const 63))
      (then
        (local.set $last (i32.add (local.get $bits) (i32.shl (i32.shr_u (local.get $n) (i32.const 6)) (i32.const 3))))
        (i64.store
          (local.get $last)
          (i64.and
            (i64.load (local.get $last))
            (i64.sub (i64.shl (i64.const 1) (i64.extend_i32_u (i32.and (local.get $n) (i32.const 63)))) (i64.const 1)))))))

  ;; Codes of two bytes in one byte each: those above 255 become 255.
  (func (export "narrow") (param $at i32) (param $n i32) (param $out i32)
    (local $i i32) (local $from i32)
    (local.set $from (local.get $at))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (v128.store
          (i32.add (local.get $out) (local.get $i))
          (i8x16.narrow_i16x8_u
            (i16x8.min_u (v128.load (local.get $from)) (v128.const i16x8 255 255 255 255 255 255 255 255))
            (i16x8.min_u (v128.load offset=16 (local.get $from)) (v128.const i16x8 255 255 255 255 255 255 255 255))))
        (local.set $from (i32.add (local.get $from) (i32.const 32)))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br $next))))

  ;; Keeps the bits of those of `n` bytes that are 1.
  (func (export "ones") (param $at i32) (param $n i32) (param $bits i32)
    (local $i i32) (local $to i32)
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $to (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3))))
        (i32.store16
          (local.get $to)
          (i32.and
            (i32.load16_u (local.get $to))
            (i8x16.bitmask
              (i8x16.eq (v128.load (i32.add (local.get $at) (local.get $i))) (v128.const i8x16 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1)))))
        (local.set $i (i32.add (local.get $i) (i32.const 16)))
        (br $next))))

  ;; The numbers of the bits that are set among `n`, in two bytes each. Returns how many. `table`: for each byte the numbers of its bits, in 8 bytes.
  ;; Reads bits in steps of 64, and writes up to 14 bytes more than it returns.
  (func (export "positions") (param $bits i32) (param $n i32) (param $table i32) (param $out i32) (result i32)
    (local $i i32) (local $to i32) (local $byte i32) (local $end i32)
    (local.set $to (local.get $out))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $end (i32.add (local.get $i) (i32.const 64)))
        (if (i64.eqz (i64.load (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3)))))
          (then (local.set $i (local.get $end)))
          (else
            (loop $byByte
              (local.set $byte (i32.load8_u (i32.add (local.get $bits) (i32.shr_u (local.get $i) (i32.const 3)))))
              (v128.store (local.get $to)
                (i16x8.add
                  (i16x8.splat (local.get $i))
                  (v128.load8x8_u (i32.add (local.get $table) (i32.shl (local.get $byte) (i32.const 3))))))
              (local.set $to (i32.add (local.get $to) (i32.shl (i32.popcnt (local.get $byte)) (i32.const 1))))
              (local.set $i (i32.add (local.get $i) (i32.const 8)))
              (br_if $byByte (i32.lt_u (local.get $i) (local.get $end))))))
        (br $next)))
    (i32.shr_u (i32.sub (local.get $to) (local.get $out)) (i32.const 1)))

  ;; How many edges are not after each of `n` times, minus `less`. `table`: the number of edges up to the start of each cell; a cell has one edge at most.
  ;; Times before the first edge get `before`, from the last one on `behind`. Writes up to one number more.
  (func (export "buckets")
    (param $times i32) (param $n i32) (param $edges i32) (param $table i32) (param $first f64) (param $last f64) (param $cellsPerMicro f64)
    (param $before i32) (param $behind i32) (param $less i32) (param $out i32)
    (local $time f64) (local $count i32) (local $end i32) (local $pair v128) (local $cells v128)
    (local.set $end (i32.add (local.get $times) (i32.shl (local.get $n) (i32.const 3))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $times) (local.get $end)))
        (local.set $pair (v128.load (local.get $times)))
        (local.set $cells
          (i32x4.trunc_sat_f64x2_s_zero
            (f64x2.mul (f64x2.sub (local.get $pair) (f64x2.splat (local.get $first))) (f64x2.splat (local.get $cellsPerMicro)))))
        (local.set $time (f64x2.extract_lane 0 (local.get $pair)))
        (if (f64.lt (local.get $time) (local.get $first))
          (then (i32.store (local.get $out) (local.get $before)))
          (else
            (if (f64.ge (local.get $time) (local.get $last))
              (then (i32.store (local.get $out) (local.get $behind)))
              (else
                (local.set $count
                  (i32.load
                    (i32.add (local.get $table) (i32.shl (i32x4.extract_lane 0 (local.get $cells)) (i32.const 2)))))
                (i32.store
                  (local.get $out)
                  (i32.add
                    (i32.sub (local.get $count) (local.get $less))
                    (f64.ge
                      (local.get $time)
                      (f64.load (i32.add (local.get $edges) (i32.shl (local.get $count) (i32.const 3)))))))))))
        (local.set $time (f64x2.extract_lane 1 (local.get $pair)))
        (if (f64.lt (local.get $time) (local.get $first))
          (then (i32.store offset=4 (local.get $out) (local.get $before)))
          (else
            (if (f64.ge (local.get $time) (local.get $last))
              (then (i32.store offset=4 (local.get $out) (local.get $behind)))
              (else
                (local.set $count
                  (i32.load
                    (i32.add (local.get $table) (i32.shl (i32x4.extract_lane 1 (local.get $cells)) (i32.const 2)))))
                (i32.store offset=4
                  (local.get $out)
                  (i32.add
                    (i32.sub (local.get $count) (local.get $less))
                    (f64.ge
                      (local.get $time)
                      (f64.load (i32.add (local.get $edges) (i32.shl (local.get $count) (i32.const 3)))))))))))
        (local.set $times (i32.add (local.get $times) (i32.const 16)))
        (local.set $out (i32.add (local.get $out) (i32.const 8)))
        (br $next))))

  ;; Sets of bits: `bytes` is a multiple of 16, and not 0.

  ;; `a` or `b`, to `a`.
  (func (export "or") (param $a i32) (param $b i32) (param $bytes i32)
    (local $i i32)
    (loop $next
      (v128.store (i32.add (local.get $a) (local.get $i)) (v128.or (v128.load (i32.add (local.get $a) (local.get $i))) (v128.load (i32.add (local.get $b) (local.get $i)))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $bytes)))))

  ;; `a` and `b`, to `a`.
  (func (export "and") (param $a i32) (param $b i32) (param $bytes i32)
    (local $i i32)
    (loop $next
      (v128.store (i32.add (local.get $a) (local.get $i)) (v128.and (v128.load (i32.add (local.get $a) (local.get $i))) (v128.load (i32.add (local.get $b) (local.get $i)))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $bytes)))))

  ;; Removes from `a` what is in `b`, and adds the others to `b`.
  (func (export "fresh") (param $a i32) (param $b i32) (param $bytes i32)
    (local $i i32) (local $fresh v128)
    (loop $next
      (local.set $fresh (v128.andnot (v128.load (i32.add (local.get $a) (local.get $i))) (v128.load (i32.add (local.get $b) (local.get $i)))))
      (v128.store (i32.add (local.get $a) (local.get $i)) (local.get $fresh))
      (v128.store (i32.add (local.get $b) (local.get $i)) (v128.or (v128.load (i32.add (local.get $b) (local.get $i))) (local.get $fresh)))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $bytes)))))

  ;; How many bits are set.
  (func (export "count") (param $a i32) (param $bytes i32) (result i32)
    (local $i i32) (local $sum v128)
    (loop $next
      (local.set $sum
        (i32x4.add
          (local.get $sum)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (i8x16.popcnt (v128.load (i32.add (local.get $a) (local.get $i))))))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $bytes))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))

  ;; How many bits are set in both.
  (func (export "countBoth") (param $a i32) (param $b i32) (param $bytes i32) (result i32)
    (local $i i32) (local $sum v128)
    (loop $next
      (local.set $sum
        (i32x4.add
          (local.get $sum)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (i8x16.popcnt (v128.and (v128.load (i32.add (local.get $a) (local.get $i))) (v128.load (i32.add (local.get $b) (local.get $i)))))))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $bytes))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))

  ;; How many bits are set in either.
  (func (export "countEither") (param $a i32) (param $b i32) (param $bytes i32) (result i32)
    (local $i i32) (local $sum v128)
    (loop $next
      (local.set $sum
        (i32x4.add
          (local.get $sum)
          (i32x4.extadd_pairwise_i16x8_u (i16x8.extadd_pairwise_i8x16_u (i8x16.popcnt (v128.or (v128.load (i32.add (local.get $a) (local.get $i))) (v128.load (i32.add (local.get $b) (local.get $i)))))))))
      (local.set $i (i32.add (local.get $i) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $i) (local.get $bytes))))
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
      (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
)
