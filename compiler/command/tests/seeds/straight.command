program p
mvin dram=0x0 local=sp:0x0 cols=16 rows=16
mvin dram=0x40 local=sp:0x10 cols=16 rows=16
mvin dram=0x80 local=sp:0x20 cols=16 rows=16
mvin dram=0xc0 local=sp:0x30 cols=16 rows=16
mvin dram=0x100 local=sp:0x0 cols=16 rows=16
mvin dram=0x140 local=sp:0x10 cols=16 rows=16
mvin dram=0x180 local=sp:0x20 cols=16 rows=16
mvin dram=0x1c0 local=sp:0x30 cols=16 rows=16
mvin dram=0x200 local=sp:0x0 cols=16 rows=16
mvin dram=0x240 local=sp:0x10 cols=16 rows=16
mvin dram=0x280 local=sp:0x20 cols=16 rows=16
mvin dram=0x2c0 local=sp:0x30 cols=16 rows=16
