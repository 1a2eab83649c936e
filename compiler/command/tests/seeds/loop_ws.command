program p
tensor a i8 65536 read
tensor c i8 65536 written
loop_ws_bounds i=2 j=2 k=2
loop_ws_addrs_ab a=a b=a+0x400
loop_ws_addrs_dc d=0x0 c=c
loop_ws_strides_ab a=32 b=32
loop_ws
