//! Every kernel of the crate lowers for every dtype, to what its contract says.

mod common;

use common::{CPU, dense, driver, host, last_error, strided};
use cutile_kernels::abi::{TensorDesc, rc};
use cutile_kernels::dtype::{BF16, F16, F32};
use cutile_kernels::{matmul, silu_and_mul, softmax};

const BASE: u64 = 0x10_0000;
const DTYPES: [(i32, &str); 3] = [(F32, "f32"), (F16, "f16"), (BF16, "bf16")];

fn softmax(x: &TensorDesc, block: i32) -> String {
    // SAFETY: live descriptors; the null driver never touches their memory.
    let code = unsafe { softmax::unpacked(x, x, block, -1, -1, -1, 0) };
    assert_eq!(code, rc::OK, "{}", last_error());
    host().last_ir()
}

fn silu(out: &TensorDesc, inp: &TensorDesc, block: i32) -> String {
    // SAFETY: as above.
    let code = unsafe { silu_and_mul::unpacked(out, inp, block, -1, -1, -1, 0) };
    assert_eq!(code, rc::OK, "{}", last_error());
    host().last_ir()
}

fn matmul(a: &TensorDesc, b: &TensorDesc, persistent: i32, occupancy: i32) -> String {
    let c = dense(BASE, a.dtype, &[32, 32]);
    // SAFETY: as above.
    let code = unsafe { matmul::unpacked(&c, a, b, 32, 32, 16, 8, 1, 2, occupancy, persistent, 1, -1, 0) };
    assert_eq!(code, rc::OK, "{}", last_error());
    host().last_ir()
}

#[test]
fn softmax_pads_rows_with_minus_infinity() {
    let (_one, _null) = driver(CPU);
    for (dtype, name) in DTYPES {
        for (columns, entry) in [(30, "single_tile"), (200, "chunked")] {
            let ir = softmax(&dense(BASE, dtype, &[8, columns]), 32);
            assert!(ir.contains(&format!("@softmax_{entry}_kernel_entry")), "{ir}");
            assert!(ir.contains("padding_value = neg_inf"), "{ir}");
            assert!(ir.contains(&format!("tile<1x32x{name}>")), "{ir}");
        }
    }
}

#[test]
fn silu_and_mul_masks_columns() {
    let (_one, _null) = driver(CPU);
    for (dtype, name) in DTYPES {
        let ir = silu(&dense(BASE, dtype, &[4, 48]), &dense(BASE, dtype, &[4, 96]), 32);
        assert_eq!(ir.matches("load_ptr_tko").count(), 2, "{ir}");
        assert!(ir.contains(&format!("tile<32xptr<{name}>>, tile<32xi1>")), "{ir}");
    }
}

#[test]
fn silu_and_mul_assumes_no_alignment_of_an_offset_slice() {
    let (_one, _null) = driver(CPU);
    let ir = silu(&dense(BASE + 2, F16, &[3, 49]), &dense(BASE + 2, F16, &[3, 98]), 64);
    assert!(!ir.contains("div_by<4") && !ir.contains("div_by<8") && !ir.contains("div_by<16"), "{ir}");
}

#[test]
fn matmul_rounds_only_f32_to_tf32() {
    let (_one, _null) = driver(CPU);
    for (dtype, name) in DTYPES {
        for persistent in [0, 1] {
            let x = dense(BASE, dtype, &[32, 32]);
            let ir = matmul(&x, &x, persistent, -1);
            let operand = if dtype == F32 { "tf32" } else { name };
            let product = format!("tile<32x16x{operand}>, tile<16x32x{operand}>, tile<32x32xf32>");
            assert!(ir.contains(&product), "{ir}");
        }
    }
}

#[test]
fn matmul_takes_transposed_operands() {
    let (_one, _null) = driver(CPU);
    let (a, b) = (strided(BASE, F16, &[32, 32], &[1, 40]), dense(BASE, F16, &[32, 32]));
    let ir = matmul(&a, &b, 0, -1);
    assert!(ir.contains("tensor_view<?x?xf16, strides=[1,?]>"), "{ir}");
}

#[test]
fn compile_options_reach_the_entry() {
    let (_one, _null) = driver(CPU);
    let x = dense(BASE, BF16, &[32, 32]);
    let ir = matmul(&x, &x, 1, 3);
    assert!(ir.contains("occupancy = 3") && ir.contains("num_cta_in_cga = 2"), "{ir}");
}
