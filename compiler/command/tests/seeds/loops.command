program sample
tensor a i8 4096 read
tensor c i32 256 written
config_ld state=0 scale=1 stride=64 block_stride=16
config_ex dataflow=ws a_stride=1 c_stride=1 acc_scale=1
config_st stride=64 acc_scale=1
loop 4 {
  mvin dram=a+0x10 local=sp:0x0 cols=16 rows=16 | rs1+0x400 rs2+0x10
  loop 3 {
    preload local=sp:0x0 cols=16 rows=16 dest=acc:0x0 dest_cols=16 dest_rows=16 | | rs2+0x10
    compute_preloaded a=sp:0x0 a_cols=16 a_rows=16 bd=garbage bd_cols=16 bd_rows=16
    mvout dram=c local=acc:0x0+full cols=16 rows=1 | rs1+0x40 | rs2-1
  }
}
fence
